import { useState } from 'preact/hooks'
import { JsonTree } from '../json/tree.js'
import { clean } from '../shell/clean.js'
import { Boundary } from './boundary.js'
import { resultOf } from './peer.js'
import { progressWords } from './progress.js'
import { changeRoots, notifications, roots, serverSays } from './session.js'
import { tell, wordsOf } from './state.js'
import { objectIn, textIn } from './values.js'

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** Notifications of the server, newest first. */
export function LogTab() {
  const [level, setLevel] = useState('')
  const choose = async (wanted: string): Promise<void> => {
    setLevel(wanted)
    try {
      await resultOf('logging/setLevel', { level: wanted })
    } catch (error) {
      tell(wordsOf(error), 'bad')
    }
  }
  return (
    <>
      {serverSays.value.capabilities?.logging !== undefined && (
        <label class="act-field">
          Log level
          <select
            aria-label="Log level"
            value={level}
            onChange={({ currentTarget }) => void choose(currentTarget.value)}
          >
            <option value="" disabled>
              server default
            </option>
            {levels.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      )}
      {notifications.value.length === 0 && <p class="quiet">No notifications from the server yet.</p>}
      <ul class="act-log" aria-label="Notifications" tabIndex={0}>
        {notifications.value.toReversed().map(({ method, params }, i) => (
          <li key={notifications.value.length - i}>
            <Boundary json={params}>
              <Told method={method} params={params} />
            </Boundary>
          </li>
        ))}
      </ul>
    </>
  )
}

/** A notification: a log message, the progress, or the values it has. */
function Told({ method, params }: { readonly method: string; readonly params: string }) {
  const object = objectIn(JSON.parse(params))
  const name = clean(method.replace('notifications/', ''))
  if (method === 'notifications/progress')
    return (
      <>
        <b>{name}</b> {clean(progressIn(object))}
      </>
    )
  if (method !== 'notifications/message')
    return (
      <>
        <b>{name}</b> <Values object={object} />
      </>
    )
  const { level, logger, data } = object
  return (
    <>
      <b>{clean(textIn(level)) || name}</b> {logger !== undefined && <>{clean(textIn(logger))}: </>}
      {typeof data === 'string' ? (
        clean(data.slice(0, longest))
      ) : (
        <JsonTree text={JSON.stringify(data ?? null)} label="Log" />
      )}
    </>
  )
}

const longest = 2_000
/** Members shown in one line. */
const mostInLine = 10

/** Plain values in one line, others as a tree. */
function Values({ object }: { readonly object: ReturnType<typeof objectIn> }) {
  const members = Object.entries(object).filter(([name]) => name !== '_meta')
  const isPlain = ([, value]: (typeof members)[number]): boolean =>
    typeof value !== 'object' || value === null
  if (members.length > mostInLine || !members.every(isPlain))
    return <JsonTree text={JSON.stringify(object)} label="Values" />
  return (
    <span class="act-values">
      {members.map(([name, value]) => (
        <span key={name}>
          <span class="quiet">{clean(name)}</span> {clean(String(value).slice(0, longest))}
        </span>
      ))}
    </span>
  )
}

function progressIn({ progress, total, message }: ReturnType<typeof objectIn>): string {
  const words = {
    progress: Number(progress) || 0,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  }
  return progressWords(words).slice(0, longest)
}

/** Roots: folders that the server may request. */
export function RootsTab() {
  const [text, setText] = useState(() => roots.value.map(({ uri }) => uri).join('\n'))
  const uris = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]))
  const wrong = uris.find((uri) => !uri.startsWith('file://'))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (wrong === undefined)
          void changeRoots(uris).then(() => tell('Roots set. The server was notified.'))
      }}
    >
      <p class="quiet">The server receives these roots when it sends roots/list.</p>
      <label class="act-field">
        Roots, one per line
        <textarea
          class="act-text"
          rows={4}
          aria-label="Roots, one per line"
          placeholder="file:///home/me/project"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <p class="failure" role="alert">
        {wrong === undefined ? '' : `${clean(wrong)} does not start with file://`}
      </p>
      <button type="submit" class="button primary">
        Set
      </button>
    </form>
  )
}
