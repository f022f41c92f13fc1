// @ts-check
/** The viewer with a million messages in a real browser, compared with a bare page that parses each line. */
import { createServer } from 'node:http'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { launch, pageMemoryMb } from './lib/browser.mjs'
import { root } from './lib/books.mjs'
import { makeLargeTape, needle } from './lib/large-tape.mjs'

const BARE = 'bare page'
const OURS = 'viewer'

const barePage = `<!doctype html><input type="file" id="file"><p id="out"></p><script>
file.onchange = async () => {
  const began = performance.now()
  const utf8 = new TextDecoder()
  const reader = file.files[0].stream().getReader()
  let rest = '', lines = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const text = rest + utf8.decode(next.value, { stream: true })
    const all = text.split('\\n')
    rest = all.pop()
    for (const line of all) if (line !== '') { JSON.parse(line); lines += 1 }
  }
  out.textContent = JSON.stringify({ lines, ms: performance.now() - began })
}
</script>`

/** Measures the longest pause between two frames; `read` returns and resets it. */
const frameWatch = `(() => {
  let last = performance.now(), longest = 0
  const tick = (now) => { longest = Math.max(longest, now - last); last = now; requestAnimationFrame(tick) }
  requestAnimationFrame(tick)
  window.readLongestFrame = () => { const found = longest; longest = 0; last = performance.now(); return found }
})()`

/** Drags the scroll bar from top to end in five seconds, and returns for how long no rows were visible. */
const scrollThrough = `(async () => {
  const box = document.querySelector('.list .scroller')
  const began = performance.now()
  let blankMs = 0, lastFull = began, frames = 0
  for (let now = began; now - began < 5000; ) {
    now = await new Promise(requestAnimationFrame)
    box.scrollTop = Math.min(1, (now - began) / 4900) * box.scrollHeight
    await new Promise((resolve) => { const c = new MessageChannel(); c.port1.onmessage = resolve; c.port2.postMessage(0) })
    frames += 1
    const seen = box.getBoundingClientRect()
    const rows = [...box.querySelectorAll('.row')].map((row) => row.getBoundingClientRect()).filter((r) => r.bottom > seen.top && r.top < seen.bottom)
    const covered = rows.reduce((sum, r) => sum + Math.min(r.bottom, seen.bottom) - Math.max(r.top, seen.top), 0)
    const full = covered >= seen.height - 30
    if (full) lastFull = now
    else blankMs = Math.max(blankMs, now - lastFull)
  }
  const last = document.querySelector('.status-bar')?.textContent ?? ''
  const rows = [...box.querySelectorAll('.row')].map((row) => Number(row.getAttribute('aria-rowindex')))
  return { blankMs, frames, last, lastRow: Math.max(...rows), count: Number(box.getAttribute('aria-rowcount')) }
})()`

/** @returns {Promise<{ url: string, close(): void }>} */
function serve() {
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const name = path === '/' ? 'index.html' : path.slice(1)
    const file = join(root, 'dist/viewer', name)
    const type = types[/** @type {keyof typeof types} */ (extname(name))]
    const found = name === 'bare' || (type !== undefined && existsSync(file))
    response.writeHead(found ? 200 : 404, { 'content-type': type ?? 'text/html' })
    response.end(name === 'bare' ? barePage : found ? readFileSync(file) : '')
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve({
        url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : address}`,
        close: () => server.close(),
      })
    })
  })
}

/** @param {{ quick: boolean, say: (line: string) => void }} options */
export async function run({ quick, say }) {
  const messages = quick ? 100_000 : 1_000_000
  const path = join(root, `build/bench/large-${messages}.jsonl`)
  mkdirSync(join(root, 'build/bench'), { recursive: true })
  say(`a tape of ${messages.toLocaleString('en')} messages`)
  const sizeBytes = makeLargeTape(path, messages)
  const server = await serve()
  const problems = /** @type {string[]} */ ([])
  try {
    say('the bare page')
    const bareMs = await measureBare(server.url, path, messages + 2, problems)
    say('the viewer')
    const ours = await measureViewer(server.url, path, messages, problems)
    // All files that load before the user types a pattern.
    const appKb = gzippedKb('index.html') + gzippedKb('viewer.js') + gzippedKb('viewer.css')
    const verdict = (
      /** @type {string} */ promise,
      /** @type {number} */ value,
      /** @type {number} */ limit,
      /** @type {string} */ unit,
    ) => ({
      promise: `${promise} ≤ ${limit} ${unit}`,
      measured: `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`,
      kept: value <= limit,
    })
    return {
      lanes: [BARE, OURS],
      measures: [
        {
          name: `indexed, ${(sizeBytes / 1e6).toFixed(0)} MB`,
          unit: 'ms',
          values: { [BARE]: bareMs, [OURS]: ours.indexedMs },
          ratio: ours.indexedMs / bareMs,
        },
        { name: 'first rows', unit: 'ms', values: { [OURS]: ours.firstRowsMs } },
        { name: 'longest frame meanwhile', unit: 'ms', values: { [OURS]: ours.indexFrameMs } },
        { name: 'memory of the page', unit: 'MB', values: { [OURS]: ours.memoryMb } },
        { name: 'rows missing while scrolling', unit: 'ms', values: { [OURS]: ours.blankMs } },
        { name: 'a word looked for everywhere', unit: 'ms', values: { [OURS]: ours.filterMs } },
        { name: 'longest frame meanwhile', unit: 'ms', values: { [OURS]: ours.filterFrameMs } },
        { name: 'the app, gzipped', unit: 'kB', values: { [OURS]: appKb } },
        {
          name: 'besides, with the first pattern (~)',
          unit: 'kB',
          values: { [OURS]: gzippedKb('patterns.js') },
        },
        {
          name: 'besides, with the first other view',
          unit: 'kB',
          values: { [OURS]: gzippedKb('views.js') },
        },
      ],
      verdicts: [
        verdict('first rows', ours.firstRowsMs / 1000, 1.5, 's'),
        verdict('indexed, times the bare page', ours.indexedMs / bareMs, 2, '×'),
        verdict('memory', ours.memoryMb ?? 0, 600, 'MB'),
        verdict('no blank frame longer than: ', ours.blankMs, 50, 'ms'),
        verdict('text filter', ours.filterMs / 1000, 2, 's'),
        verdict('frames while filtering', ours.filterFrameMs, 100, 'ms'),
        verdict('app', appKb, 150, 'kB'),
      ],
      books: { problems },
    }
  } finally {
    server.close()
  }
}

/** @param {string} name */
function gzippedKb(name) {
  return gzipSync(readFileSync(join(root, 'dist/viewer', name))).length / 1000
}

/** @param {string} url @param {string} path @param {number} lines @param {string[]} problems */
async function measureBare(url, path, lines, problems) {
  const browser = await launch()
  try {
    const page = await browser.newPage()
    await page.goto(`${url}/bare`)
    await page.setInputFiles('#file', path)
    await page.waitForFunction("document.querySelector('#out')?.textContent !== ''", undefined, {
      timeout: 300_000,
    })
    const found = JSON.parse((await page.textContent('#out')) ?? '{}')
    if (found.lines !== lines) problems.push(`the bare page read ${found.lines} lines of ${lines}`)
    return Number(found.ms)
  } finally {
    await browser.close()
  }
}

/** @param {string} url @param {string} path @param {number} messages @param {string[]} problems */
async function measureViewer(url, path, messages, problems) {
  const browser = await launch()
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    page.on('pageerror', (error) => problems.push(`the page failed: ${error.message}`))
    await page.goto(url)
    await page.evaluate(frameWatch)
    const chooser = page.waitForEvent('filechooser')
    await page.click('text=Open file')
    const files = await chooser
    await page.evaluate('performance.mark("given"), readLongestFrame()')
    const watching = page.evaluate(
      `new Promise((resolve) => {
        const found = {}
        const look = () => {
          found.first ??= document.querySelector('.scroller .row') ? performance.now() : undefined
          if (found.first && !document.querySelector('.status-bar progress') && document.querySelector('.status-bar')?.textContent.includes('shown · ${messages.toLocaleString('en')} ')) {
            found.done = performance.now()
            resolve({ ...found, given: performance.getEntriesByName('given')[0].startTime, frame: readLongestFrame() })
          } else setTimeout(look, 4)
        }
        look()
      })`,
    )
    await files.setFiles(path)
    const times = /** @type {{ first: number, done: number, given: number, frame: number }} */ (
      await Promise.race([watching, timeout(300_000, 'the viewer was not done')])
    )
    const memoryMb = pageMemoryMb()
    const scrolled = /** @type {{ blankMs: number, lastRow: number, count: number }} */ (
      await page.evaluate(scrollThrough)
    )
    if (scrolled.count !== messages / 2 || scrolled.lastRow !== scrolled.count)
      problems.push(`scrolling ended at row ${scrolled.lastRow} of ${scrolled.count}`)
    await page.evaluate('readLongestFrame()')
    await page.fill('[data-find=filter]', needle)
    const filter = /** @type {{ ms: number, count: string }} */ (
      await page.evaluate(`new Promise((resolve) => {
        const began = performance.now()
        const look = () => {
          const count = document.querySelector('.slot-filter .count')?.textContent ?? '…'
          if (!count.includes('…')) resolve({ ms: performance.now() - began, count })
          else setTimeout(look, 4)
        }
        look()
      })`)
    )
    if (filter.count !== '1') problems.push(`the filter found ${filter.count} messages instead of 1`)
    const filterFrameMs = Number(await page.evaluate('readLongestFrame()'))
    return {
      firstRowsMs: times.first - times.given,
      indexedMs: times.done - times.given,
      indexFrameMs: times.frame,
      memoryMb,
      blankMs: scrolled.blankMs,
      filterMs: filter.ms,
      filterFrameMs,
    }
  } finally {
    await browser.close()
  }
}

/** @param {number} ms @param {string} what @returns {Promise<never>} */
function timeout(ms, what) {
  return new Promise((_, reject) =>
    setTimeout(() => reject(new Error(`${what} within ${ms / 1000} s`)), ms).unref(),
  )
}
