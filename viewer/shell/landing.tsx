import { signal } from '@preact/signals'
import type { ListedRecording } from '../../src/control-schema/index.js'
import { chooseFiles, open } from '../store/actions.js'
import { follow } from '../store/state.js'
import { Icon, Reels } from './icons.js'
import { mode } from './mode.js'
import { tokenHeaders } from './token.js'

/** The element for the list of recordings of `wiretape ui`, drawn by the acting script. */
export const home = signal<HTMLElement | null>(null)

/** The page before a recording is open. */
export function Landing() {
  return (
    <main class="landing">
      {mode === 'ui' && <div class="home" ref={(element) => void (home.value = element)} />}
      <div class="landing-card">
        <Reels />
        <h1>Open a recording</h1>
        <p>
          Drop recordings, session files or transcripts here. Files are read in this page; nothing is
          uploaded.
        </p>
        <button type="button" class="button primary" onClick={chooseFiles}>
          <Icon name="open" /> Open file…
        </button>
        <p class="quiet">
          Open two recordings to compare them, or several to merge them by time. Press <kbd>?</kbd> for
          keyboard shortcuts.
        </p>
      </div>
    </main>
  )
}

/** A small recording included with wiretape. */
export const sample: ListedRecording = {
  id: 'sample',
  name: 'sample.jsonl',
  label: 'sample',
  startedAt: '',
  sizeBytes: 0,
  messages: null,
  errors: null,
  durationMs: null,
  server: null,
  client: null,
  state: 'complete',
  files: ['sample.jsonl'],
  path: 'sample.jsonl',
}

/** Opens recordings of the list; follows live ones. */
export function openListed(recordings: readonly ListedRecording[]): Promise<void> {
  if (recordings.some(({ state }) => state === 'live')) follow.value = true
  return open(recordings.flatMap(openingsOf))
}

/** The files of a recording, fetched from wiretape; a live one is followed. */
function openingsOf(one: ListedRecording) {
  return one.files.map((name, i) => ({
    kind: 'url' as const,
    name,
    // The first segment's path represents all.
    path: one.path,
    headers: tokenHeaders(),
    url: new URL(`./api/recordings/${encodeURIComponent(one.id)}/${i}`, location.href).href,
    follow: one.state === 'live' && i === one.files.length - 1,
  }))
}
