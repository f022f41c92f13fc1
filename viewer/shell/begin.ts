import type { ListedRecording } from '../../src/control-schema/index.js'
import { connect, open } from '../store/actions.js'
import { bindAddress } from '../store/address.js'
import { findUnasked } from '../store/findings.js'
import { hasPatterns, lanes, notice, view } from '../store/state.js'
import type { Opening } from '../worker/protocol.js'
import { openListed, sample } from './landing.js'
import { mode } from './mode.js'
import { openDoor } from './page-door.js'
import { isFromDisk, loadScript, ownScript, patternsText } from './own-script.js'
import { bindTheme } from './theme.js'
import { askWiretape, enter, tokenHeaders } from './token.js'

/**
 * Starts the page. A page from disk passes the engine for patterns to its worker as text, so it loads the
 * engine first.
 */
export function whenReady(start: () => void): void {
  if (isFromDisk) loadScript('patterns.js', start, start)
  else start()
}

/** Starts the worker and opens the recordings named by the URL or the page itself. */
export function begin(): void {
  if (mode === 'ui') enter()
  connect(makeWorker())
  bindAddress()
  bindTheme()
  findUnasked()
  Object.assign(globalThis, { loadWiretapePatterns: loadPatterns })
  if (mode === 'ui') reloadOnReturn()
  if (mode === 'ui') openDoor()
  if (mode === 'report') void openEmbedded()
  else void openNamed()
}

/** The worker runs this same script. A page from disk may not load another one, but may run its own text. */
function makeWorker(): Worker {
  const { src, text } = ownScript()
  if (src !== '') return new Worker(src)
  const texts = [patternsText(), ';', text]
  return new Worker(URL.createObjectURL(new Blob(texts, { type: 'text/javascript' })))
}

let asked = false

/** Loads the engine for the first pattern. Reports and pages from disk have it already. */
function loadPatterns(): void {
  if (ownScript().src === '' || asked) return
  asked = true
  loadScript(
    'patterns.js',
    () => (hasPatterns.value = true),
    () => {
      asked = false
      notice.value = { text: 'Cannot use patterns: patterns.js could not be loaded.', tone: 'bad' }
    },
  )
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
  // Both parameters may be repeated, and each may hold several URLs.
  const traces = [...query.getAll('diff'), ...query.getAll('trace')]
    .flatMap((urls) => urls.split(';'))
    .filter((url) => url !== '')
  if (query.has('diff') && traces.length > 1) view.value = 'compare'
  if (query.has('diff') && traces.length === 1)
    notice.value = {
      text: 'A comparison needs two recordings: ?diff=before.jsonl;after.jsonl. Only one was given.',
      tone: 'bad',
    }
  const openings: Opening[] = []
  for (const text of traces) {
    const opening = openingOf(text)
    if (opening) openings.push(opening)
  }
  if (openings.length > 0) await open(openings)
  else if (mode === 'ui' && query.has('open')) await openChosen(query.getAll('open'))
  else if (mode === 'ui' && !query.has('home')) await openGiven()
}

/** Allows only https and the page's own origin. */
function openingOf(text: string): Opening | undefined {
  const url = URL.canParse(text, location.href) ? new URL(text, location.href) : undefined
  if (url && mode === 'ui' && url.origin !== location.origin) {
    notice.value = {
      text: `Cannot open ${url.host}: wiretape ui opens only files on this machine. Download the file and drop it here.`,
      tone: 'bad',
    }
    return undefined
  }
  if (isFromDisk && url?.protocol === 'file:') {
    notice.value = {
      text: `Cannot open ${nameOf(url).slice(0, 200)}: browsers do not let a page on disk read other files. Drop the file here, or run wiretape ui.`,
      tone: 'bad',
    }
    return undefined
  }
  if (!url || (url.protocol !== 'https:' && url.origin !== location.origin)) {
    notice.value = {
      text: `Cannot open ${text.slice(0, 200)}: the URL must use https or point to this site.`,
      tone: 'bad',
    }
    return undefined
  }
  return { kind: 'url', name: nameOf(url), url: url.href, ...(mode === 'ui' && { headers: tokenHeaders() }) }
}

/** The last part of the path, decoded. */
function nameOf(url: URL): string {
  const name = url.pathname.split('/').at(-1) || url.host
  try {
    return decodeURIComponent(name)
  } catch {
    // A lone % is no valid escape.
    return name
  }
}

/** Opens the files named on the command line of `wiretape ui`. */
async function openGiven(): Promise<void> {
  try {
    await openListed((await askWiretape('./api/given')) as ListedRecording[])
  } catch (error) {
    notice.value = {
      text: `Cannot open the recordings of the command line: ${error instanceof Error ? error.message : String(error)}. Check that wiretape is still running.`,
      tone: 'bad',
    }
  }
}

/** Reloads on a change between the list of recordings and an open recording. */
function reloadOnReturn(): void {
  addEventListener('popstate', () => {
    const isOpen = lanes.peek().length > 0
    const wanted = new URLSearchParams(location.search).has('open')
    if (isOpen !== wanted) location.reload()
  })
}

/** Opens recordings of the list that the URL names. */
async function openChosen(ids: readonly string[]): Promise<void> {
  try {
    const all = [...((await askWiretape('./api/recordings')) as ListedRecording[]), sample]
    const chosen = ids.flatMap((id) => all.filter((one) => one.id === id))
    if (chosen.length < ids.length) throw new Error('it is no longer in the list')
    await openListed(chosen)
  } catch (error) {
    notice.value = {
      text: `Cannot open the recording in the URL: ${error instanceof Error ? error.message : String(error)}.`,
      tone: 'bad',
    }
  }
}
