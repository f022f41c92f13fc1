import { signal } from '@preact/signals'
import { clean } from '../shell/clean.js'
import { askToAct } from './channel.js'
import type { Session } from './session.js'
import { tell, wordsOf } from './state.js'

/** Sessions of pages, by recording id. */
const open = signal<ReadonlyMap<string, Session>>(new Map())

export async function loadSessions(): Promise<void> {
  try {
    const all = (await askToAct('./api/sessions')) as readonly Session[]
    open.value = new Map(all.map((one) => [one.recording, one]))
  } catch {
    // The list of recordings already reports a lost connection to wiretape.
  }
}

async function command(id: string, body: unknown): Promise<void> {
  try {
    await askToAct(`./api/sessions/${id}`, body)
  } catch (error) {
    tell(wordsOf(error), 'bad')
  }
  await loadSessions()
}

/** Characters of a reason. */
const longestWhy = 200

/** Below the name of a recording: why its server sent nothing, or why the session of a page has ended. */
export function Why({ recording, why }: { readonly recording: string; readonly why: string | undefined }) {
  const ended = open.value.get(recording)?.ended
  const text = why ?? (ended === undefined ? undefined : `session ended: ${ended}`)
  if (text === undefined) return null
  const shown = text.length > longestWhy ? `${text.slice(0, longestWhy)}…` : text
  return <span class="recording-why">{clean(shown)}</span>
}

/** For a recording made by a page: the end of its session, and buttons that keep or end it. */
export function SessionActions({ recording, label }: { readonly recording: string; readonly label: string }) {
  const session = open.value.get(recording)
  if (!session) return null
  const { id, isKept = false, endsInMs, ended } = session
  if (ended !== undefined) return null
  return (
    <span class="home-asked" role="group" aria-label={`Session of ${clean(label)}`}>
      {endsInMs !== undefined && <span class="bad">ends in {Math.ceil(endsInMs / 1000)} s</span>}
      <button
        type="button"
        class={`button small ${isKept ? 'on' : ''}`}
        aria-pressed={isKept}
        title="Keep the session after its last page is closed, until wiretape exits"
        onClick={() => void command(id, { type: 'keep', on: !isKept })}
      >
        Keep open
      </button>
      <button
        type="button"
        class="button small"
        title="Stop the server and end its recording"
        onClick={() => void command(id, { type: 'close' })}
      >
        End session
      </button>
    </span>
  )
}
