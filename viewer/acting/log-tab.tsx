import { useState } from 'preact/hooks'
import { indentJson } from '../../src/render/index.js'
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

function Told({ method, params }: { readonly method: string; readonly params: string }) {
  return (
    <>
      <b>{clean(method.replace('notifications/', ''))}</b> <code>{clean(wordsIn(method, params))}</code>
    </>
  )
}

const longest = 2_000

function wordsIn(method: string, params: string): string {
  if (method === 'notifications/progress') {
    const { progress, total, message } = objectIn(JSON.parse(params))
    const words = {
      progress: Number(progress) || 0,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    }
    return progressWords(words).slice(0, longest)
  }
  if (method !== 'notifications/message') return params.slice(0, longest)
  const { level, data } = objectIn(JSON.parse(params))
  const words = typeof data === 'string' ? data : indentJson(JSON.stringify(data ?? null))
  return `${textIn(level)}: ${words}`.slice(0, longest)
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
