/** A real browser, and a web server that knows nothing but the built viewer and a few recordings. */
import { createReadStream, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, resolve } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const built = join(root, 'dist/viewer')
const screenshots = join(root, 'build/screenshots')

export const chromiumPath = [
  process.env['WIRETAPE_CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => path !== undefined && existsSync(path))

/** Whether there is a browser. Without one, a line says so; on our own machines that is a failure. */
export const hasBrowser = ((): boolean => {
  if (process.env['WIRETAPE_EXPECT_NODE'] !== undefined) {
    process.stderr.write('left out: the viewer in a browser; another Node makes no difference to it\n')
    return false
  }
  if (chromiumPath !== undefined) return true
  const how = 'install Chromium (Debian: apt-get install chromium) or set WIRETAPE_CHROMIUM'
  if (process.env['WIRETAPE_NEEDS_CHROMIUM'] !== undefined) throw new Error(`no Chromium: ${how}`)
  process.stderr.write(`left out: the viewer in a browser; ${how}\n`)
  return false
})()

export interface Stage {
  /** Address of the page. */
  readonly url: string
  /** Path and query of every request since the last call. */
  requests(): string[]
  /** Serves a file, or a text, below the page. */
  serve(path: string, content: string | { readonly file: string }, headers?: Record<string, string>): void
  /** Opens a page; its console errors fail the test when it is closed. */
  open(address: string, options?: BrowserContextOptions): Promise<Page>
  /** Console errors of the pages. */
  readonly complaints: string[]
  close(): Promise<void>
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

interface Served {
  readonly content: string | { readonly file: string }
  readonly headers: Record<string, string>
}

export async function createStage(): Promise<Stage> {
  const served = new Map<string, Served>()
  let log: string[] = []
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
    log.push(pathname + search)
    const own = served.get(pathname)
    const file = join(built, pathname === '/' ? 'index.html' : pathname.slice(1))
    if (own && typeof own.content === 'string') response.writeHead(200, own.headers).end(own.content)
    else {
      const path = own && typeof own.content !== 'string' ? own.content.file : file
      if (!existsSync(path) || !statSync(path).isFile()) return void response.writeHead(404).end()
      const type = types[extname(path)] ?? 'application/octet-stream'
      response.writeHead(200, {
        'content-type': type,
        'content-length': statSync(path).size,
        ...own?.headers,
      })
      createReadStream(path).pipe(response)
    }
    return undefined
  })
  const url = await listen(server)
  const browser = await launch()
  const complaints: string[] = []
  return {
    url,
    complaints,
    requests() {
      const seen = log
      log = []
      return seen
    },
    serve: (path, content, headers = {}) => void served.set(path, { content, headers }),
    async open(address, options = {}) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
      const page = await context.newPage()
      page.setDefaultTimeout(30_000)
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text())
      })
      await page.goto(/^\w+:/.test(address) ? address : url + address)
      return page
    },
    async close() {
      await browser.close()
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function launch(): Promise<Browser> {
  // Root has no sandbox; the pages are our own.
  return chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] })
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Waits until something holds in the page. An expression may throw while an element is missing. */
export async function holds(page: Page, expression: string): Promise<void> {
  const deadline = Date.now() + 30_000
  let thrown: unknown
  // Playwright's own wait would need a policy that allows eval.
  const isTrue = (): Promise<boolean> =>
    page.evaluate<boolean>(expression).catch((error: unknown) => {
      thrown = error
      return false
    })
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`did not come to hold: ${expression}`, { cause: thrown })
    await new Promise((done) => setTimeout(done, 30))
  }
}

/** Waits until so many messages and other entries are read. */
export function read(page: Page, messages: number): Promise<void> {
  // Other lines, such as stderr, are counted apart: `9 rows shown · 14 messages, 2 other entries`.
  const pattern = String.raw`/shown · ([\d,]+) messages?(?:, ([\d,]+) other)?/`
  return holds(
    page,
    `(() => {
      const [, all, others = '0'] = ${pattern}.exec(document.querySelector('.status-bar')?.textContent ?? '') ?? []
      if (all === undefined || document.querySelector('.status-bar progress')) return false
      return Number(all.replaceAll(',', '')) + Number(others.replaceAll(',', '')) === ${messages}
    })()`,
  )
}

/** The rows of the list that are in the page: method, subject and status. */
export function rows(page: Page): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll('.list .scroller .row')]
    .sort((a, b) => a.getAttribute('aria-rowindex') - b.getAttribute('aria-rowindex'))
    .map((row) => ['.name b', '.subject', '.status'].map((part) => row.querySelector(part)?.textContent ?? '').join(' ').replace(/ +/g, ' ').trim())`)
}

const axeTags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
const axeSource = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8')

/** Serious violations that axe finds. @param only one rule of its */
export async function seriousFindings(page: Page, only?: string): Promise<string[]> {
  // Past the policy of the page, which lets no other script in.
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: axeSource })
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { runOnly: ${JSON.stringify(only === undefined ? axeTags : [only])} }).then((r) => r.violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' ' + (n.any[0]?.message ?? '')).join(' | ')))`,
    awaitPromise: true,
    returnByValue: true,
  })
  await session.detach()
  return result.value as string[]
}

/** A picture for people, in build/screenshots. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true })
  const size = page.viewportSize()
  await page.screenshot({ path: join(screenshots, `${name}-${size?.width ?? 0}.png`) })
}

/** Checks the page with axe, and takes a picture, at each width and in each colour scheme. Leaves it narrow and dark. */
export async function expectLooks(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      expect(await seriousFindings(page)).toEqual([])
      await picture(page, `${name}-${colorScheme}`)
    }
}

/** A tape of ours with these lines between its first and last. */
export function tapeOf(lines: readonly string[], label = 'made'): string {
  const meta = {
    v: 1,
    type: 'meta',
    startedAt: '2026-08-01T10:00:00.000Z',
    label,
    command: ['node', 'server.js'],
    wiretape: {
      version: '0.1.0',
      session: `00000000-0000-4000-8000-${label.padEnd(12, '0').slice(0, 12)}`,
      transport: 'stdio',
      url: null,
      segment: 0,
      redaction: 'defaults',
      metadata: {},
    },
  }
  const end = {
    t: '2026-08-01T10:00:09.000Z',
    type: 'end',
    exitCode: 0,
    durationMs: 9000,
    wiretape: { messages: lines.length },
  }
  return `${[JSON.stringify(meta), ...lines, JSON.stringify(end)].join('\n')}\n`
}

let made = 0

/** A message line: `raw` as text, `more` members behind it. */
export function messageLine(
  dir: 'in' | 'out',
  raw: string,
  more: Readonly<Record<string, unknown>> = {},
): string {
  made += 1
  const id = `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`
  const t = new Date(Date.parse('2026-08-01T10:00:00Z') + made).toISOString()
  const rest = JSON.stringify({ id, seq: made, us: made * 1000, ...more }).slice(1)
  return `{"t":"${t}","dir":"${dir}","raw":${raw},${rest}`
}

/** Sums up how much of the page jumps without the person having done anything. */
export const watchShifts = `{
  window.shifted = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value
  }).observe({ type: 'layout-shift' })
}`

/** Notices go away by themselves; axe has to see them. */
export async function keepNotices(page: Page): Promise<void> {
  await page.evaluate(
    `{ const later = setTimeout; window.setTimeout = (done, ms) => (ms >= 2_000 ? 0 : later(done, ms)) }`,
  )
}

/** Fails with the console errors of the pages. */
export function expectQuiet(stage: Stage, ...but: readonly RegExp[]): void {
  expect(stage.complaints.filter((text) => !but.some((pattern) => pattern.test(text)))).toEqual([])
}
