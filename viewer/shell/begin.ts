import { connect, open } from '../store/actions.js'
import { bindAddress } from '../store/address.js'
import { crashed, follow, hasPatterns, notice, view } from '../store/state.js'
import type { Opening } from '../worker/protocol.js'
import { openingsOf } from './landing.js'
import { mode } from './mode.js'
import { ownScript } from './own-script.js'
import { bindTheme } from './theme.js'

/** Starts the worker and opens what the address, or the page itself, names. */
export function begin(): void {
  connect(makeWorker())
  bindAddress()
  bindTheme()
  Object.assign(globalThis, { loadWiretapePatterns: loadPatterns })
  if (mode === 'report') void openEmbedded()
  else void openNamed()
}

/** The worker runs this same script. A page from a file may not load another one, but may run its own text. */
function makeWorker(): Worker {
  const { src, text } = ownScript()
  if (src !== '') return new Worker(src)
  const texts = [document.querySelector('#patterns')?.textContent ?? '', ';', text]
  return new Worker(URL.createObjectURL(new Blob(texts, { type: 'text/javascript' })))
}

let asked = false

/** The engine for patterns, when the first one is typed. A report has it inside. */
function loadPatterns(): void {
  const { src } = ownScript()
  if (src === '' || asked) return
  asked = true
  const patterns = document.createElement('script')
  patterns.src = new URL('./patterns.js', src).href
  patterns.addEventListener('load', () => (hasPatterns.value = true))
  patterns.addEventListener('error', () => {
    asked = false
    notice.value = { text: 'Patterns cannot be used: patterns.js did not arrive.', tone: 'bad' }
  })
  document.head.append(patterns)
}

async function openEmbedded(): Promise<void> {
  for (const element of document.querySelectorAll<HTMLScriptElement>(
    'script[type="application/x-wiretape"]',
  )) {
    const name = element.dataset['name'] ?? 'recording.jsonl'
    const bytes = Uint8Array.from(atob(element.textContent ?? ''), (char) => char.charCodeAt(0))
    await open([{ kind: 'file', name, blob: new Blob([bytes]) }])
  }
}

async function openNamed(): Promise<void> {
  const query = new URLSearchParams(location.search)
  if (query.has('token')) {
    // The cookie has it from now on; it need not stand in the address bar and in screenshots.
    query.delete('token')
    const rest = query.toString()
    history.replaceState(null, '', `${location.pathname}${rest === '' ? '' : `?${rest}`}${location.hash}`)
  }
  const traces = (query.get('trace') ?? query.get('diff') ?? '').split(';').filter((url) => url !== '')
  if (query.has('diff') && traces.length > 1) view.value = 'compare'
  const openings: Opening[] = []
  for (const text of traces) {
    const opening = openingOf(text)
    if (opening) openings.push(opening)
  }
  if (openings.length > 0) await open(openings)
  else if (mode === 'ui') await openGiven()
}

/** Only https, or what comes from where the page comes from. */
function openingOf(text: string): Opening | undefined {
  const url = URL.canParse(text, location.href) ? new URL(text, location.href) : undefined
  if (!url || (url.protocol !== 'https:' && url.origin !== location.origin)) {
    notice.value = {
      text: `Not opened: ${text.slice(0, 200)} is neither https nor from this site.`,
      tone: 'bad',
    }
    return undefined
  }
  return { kind: 'url', name: decodeURIComponent(url.pathname.split('/').at(-1) || url.host), url: url.href }
}

/** The files that were named on the command line of `wiretape ui`. */
async function openGiven(): Promise<void> {
  try {
    const response = await fetch('./api/given')
    if (!response.ok) return
    const given = (await response.json()) as Parameters<typeof openingsOf>[0][]
    if (given.some(({ state }) => state === 'live')) follow.value = true
    await open(given.flatMap(openingsOf))
  } catch (error) {
    crashed.value = error instanceof Error ? error.message : String(error)
  }
}
