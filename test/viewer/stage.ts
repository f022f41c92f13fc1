/** A real browser, and a web server that knows nothing but the built viewer and a few recordings. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, resolve } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const built = join(root, 'dist/viewer')

export const chromiumPath = [
  process.env['WIRETAPE_CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => path !== undefined && existsSync(path))

/**
 * Chromium without windows (Debian: chromium-headless-shell), used where it is installed. The whole one makes a window
 * for every page, and that takes longer than the page.
 */
const shellPath = ['/usr/lib/chromium/chromium-headless-shell'].find(
  (path) => process.env['WIRETAPE_CHROMIUM'] === undefined && existsSync(path),
)

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
  /** Opens a page, until the end of the test. Its console errors fail the test, if the page comes from this stage. */
  open(address: string, options?: BrowserContextOptions): Promise<Page>
  /** Console errors of the pages, and those of pages that this stage serves. */
  readonly complaints: string[]
  readonly ownComplaints: string[]
  closePages(): Promise<void>
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

/** One for all tests of a suite. The console errors of one test's pages are forgotten before the next one. */
export function useViewer(): Stage {
  const stage = {} as Stage
  beforeAll(async () => void Object.assign(stage, await createStage()))
  beforeEach(() => void (stage.complaints.length = stage.ownComplaints.length = 0))
  afterEach(async () => {
    await stage.closePages()
    expect(stage.ownComplaints).toEqual([])
  })
  afterAll(() => stage.close())
  return stage
}

async function createStage(): Promise<Stage> {
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
  const ownComplaints: string[] = []
  return {
    url,
    complaints,
    ownComplaints,
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
      const isOwn = !/^\w+:/.test(address)
      const complain = (text: string): void => {
        complaints.push(text)
        if (isOwn) ownComplaints.push(text)
      }
      page.on('pageerror', (error) => complain(error.message))
      page.on('console', (message) => {
        if (message.type() === 'error') complain(message.text())
      })
      await page.goto(isOwn ? url + address : address)
      return page
    },
    closePages: async () => void (await Promise.all(browser.contexts().map((context) => context.close()))),
    async close() {
      await browser.close()
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function launch(): Promise<Browser> {
  // Root has no sandbox; the pages are our own.
  return chromium.launch({ executablePath: shellPath ?? chromiumPath!, args: ['--no-sandbox'] })
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Fails with the console errors of the pages. */
export function expectQuiet(stage: Stage, ...but: readonly RegExp[]): void {
  expect(stage.complaints.filter((text) => !but.some((pattern) => pattern.test(text)))).toEqual([])
}
