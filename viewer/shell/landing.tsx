import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { formatBytes } from '../../src/render/index.js'
import { chooseFiles, open } from '../store/actions.js'
import { follow } from '../store/state.js'
import { clean } from './clean.js'
import { Icon, Reels } from './icons.js'
import { mode } from './mode.js'
import { askWiretape, tokenHeaders } from './token.js'

/** A recording of the data folder, as `wiretape ui` lists it. */
export interface Listed {
  readonly id: string
  readonly name: string
  readonly label: string
  readonly startedAt: string
  readonly sizeBytes: number
  readonly messages: number | null
  readonly state: 'live' | 'complete' | 'incomplete' | 'failed'
  readonly files: readonly string[]
  /** Of the first file. */
  readonly path: string
}

const listed = signal<readonly Listed[] | undefined>(undefined)
const trouble = signal<string | undefined>(undefined)

/** What is seen before a recording is open. */
export function Landing() {
  useEffect(() => {
    if (mode !== 'ui') return undefined
    let gone = false
    const load = async (): Promise<void> => {
      try {
        listed.value = (await askWiretape('./api/recordings')) as Listed[]
        trouble.value = undefined
      } catch (error) {
        trouble.value = error instanceof Error ? error.message : String(error)
      }
      if (!gone) timer = setTimeout(() => void load(), 3_000)
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    void load()
    return () => {
      gone = true
      clearTimeout(timer)
    }
  }, [])
  return (
    <main class="landing">
      <div class="landing-card">
        <Reels />
        <h1>Open a recording</h1>
        <p>
          Drop tapes, session files or transcripts here, as many as you like. They are read in this page;
          nothing is uploaded.
        </p>
        <button type="button" class="button primary" onClick={chooseFiles}>
          <Icon name="open" /> Open file…
        </button>
        <p class="quiet">
          Two recordings can be compared, several are merged by time. <kbd>?</kbd> shows all keys.
        </p>
      </div>
      {mode === 'ui' && <Recordings />}
    </main>
  )
}

function Recordings() {
  if (trouble.value !== undefined)
    return (
      <p class="failure">
        The list of recordings could not be fetched: {trouble.value}. Is wiretape still running?
      </p>
    )
  const all = listed.value
  if (!all) return <p class="empty">Looking for recordings…</p>
  if (all.length === 0)
    return (
      <p class="empty">
        No recordings in your data folder yet. <code>wiretape record -- COMMAND</code> makes one.
      </p>
    )
  return (
    <section class="recordings" aria-label="Your recordings">
      <h2>Your recordings</h2>
      <ul>
        {all.map((one) => (
          <li key={one.id}>
            <button
              type="button"
              class={`recording is-${one.state}`}
              onClick={() => {
                // The address names it, so that it can be reloaded and left again.
                history.pushState(null, '', `?open=${encodeURIComponent(one.id)}`)
                void openListed([one])
              }}
            >
              <b>{clean(one.label)}</b>
              <span class="recording-state">
                {one.state === 'live'
                  ? 'live'
                  : one.state === 'incomplete'
                    ? 'cut off'
                    : one.state === 'failed'
                      ? 'failed'
                      : ''}
              </span>
              <span title="UTC">{one.startedAt.slice(0, 19).replace('T', ' ')}</span>
              <span class="number">{one.messages === null ? '' : `${one.messages} messages`}</span>
              <span class="number">{formatBytes(one.sizeBytes)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Opens recordings of the list; what is being recorded is followed. */
export function openListed(recordings: readonly Listed[]): Promise<void> {
  if (recordings.some(({ state }) => state === 'live')) follow.value = true
  return open(recordings.flatMap(openingsOf))
}

/** The files of a recording, fetched from wiretape; a live one goes on. */
function openingsOf(one: Listed) {
  return one.files.map((name, i) => ({
    kind: 'url' as const,
    name,
    // One segment stands for all.
    path: one.path,
    headers: tokenHeaders(),
    url: new URL(`./api/recordings/${encodeURIComponent(one.id)}/${i}`, location.href).href,
    follow: one.state === 'live' && i === one.files.length - 1,
  }))
}
