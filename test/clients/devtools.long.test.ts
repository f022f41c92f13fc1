/** Archives that wiretape writes open in the developer tools of a real Chromium, with their own importer. */
import * as fc from 'fast-check'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessions } from '../formats/codec-sessions.js'
import { adopted, write } from '../formats/codec-stage.js'
import { recordsOf } from '../formats/session-json-stage.js'
import { chromiumPath, hasBrowser } from '../viewer/stage.js'

interface Shown {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly asked: string | undefined
  readonly answer: string
  readonly events: readonly unknown[]
}

interface HarEntry {
  readonly request: {
    readonly method: string
    readonly url: string
    readonly postData?: { readonly text: string }
  }
  readonly response: { readonly status: number; readonly content: { readonly text?: string } }
  readonly _eventSourceMessages?: readonly object[]
}

let browser: Browser
let page: Page
beforeAll(async () => {
  if (!hasBrowser) return
  browser = await chromium.launch({ executablePath: chromiumPath!, args: ['--no-sandbox'] })
  page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  await page.goto('devtools://devtools/bundled/devtools_app.html')
  await page.getByRole('tab', { name: 'Network' }).waitFor()
})
afterAll(() => browser?.close())

/** Runs in the page. A text, because the test runner would replace calls of `import`. */
const openFile = `(async (text) => {
  const { ViewManager } = (await import('./ui/legacy/legacy.js')).ViewManager
  await ViewManager.instance().showView('network')
  const { NetworkPanel } = (await import('./panels/network/network.js')).NetworkPanel
  const { NetworkLog } = (await import('./models/logs/logs.js')).NetworkLog
  NetworkLog.instance().reset(false)
  await NetworkPanel.instance().networkLogView.onLoadFromFile(new File([text], 'x.har'))
  const all = []
  for (const request of NetworkLog.instance().requests()) {
    const content = await request.requestContentData()
    all.push({
      method: request.requestMethod,
      url: request.url(),
      status: request.statusCode,
      asked: (await request.requestFormData()) ?? undefined,
      answer: 'text' in content ? content.text : '',
      events: request.eventSourceMessages().map((event) => ({ ...event })),
    })
  }
  return all
})`

/** Rows of the network panel after it has opened the file. */
function opened(har: string): Promise<Shown[]> {
  return page.evaluate(`${openFile}(${JSON.stringify(har)})`)
}

/** The expected rows. */
function expected(har: string): Shown[] {
  const { log } = JSON.parse(har) as { log: { entries: HarEntry[] } }
  return log.entries.map(({ request, response, _eventSourceMessages: events = [] }) => ({
    method: request.method,
    url: request.url,
    status: response.status,
    asked: request.postData?.text,
    answer: response.content.text ?? '',
    events: events.map(known),
  }))
}

/** Removes our own members, which the tools ignore. */
function known(event: object): object {
  return Object.fromEntries(Object.entries(event).filter(([name]) => !name.startsWith('_')))
}

const start =
  '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"x","command":[],"mcpTapVersion":"x","wiretape":{"version":"1","session":"6f1b2c3d-0000-4000-8000-000000000001","transport":"streamable-http","url":"https://example.com/mcp?x=1","segment":0,"redaction":"none","metadata":{}}}'
const stream = [
  start,
  '{"t":"2026-08-01T10:00:00.004Z","dir":"in","raw":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"é😀"}},"http":{"exchange":1,"method":"POST","path":"/mcp?x=1","headers":[["Content-Type","application/json"]]}}',
  '{"t":"2026-08-01T10:00:00.104Z","dir":"out","raw":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":7}},"http":{"exchange":1,"status":200,"headers":[["Content-Type","text/event-stream; charset=utf-8"]]},"sse":{"event":"message","id":"e1"}}',
  '{"t":"2026-08-01T10:00:00.204Z","dir":"out","raw":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"é"}]}},"http":{"exchange":1,"status":200},"sse":{"id":"e2"}}',
  '{"t":"2026-08-01T10:00:00.300Z","type":"http","exchange":2,"method":"POST","path":"/mcp?x=1","status":401,"responseHeaders":[["WWW-Authenticate","Bearer"]],"us":300000}',
]

describe.runIf(hasBrowser)('an archive of wiretape, in the developer tools of Chromium', () => {
  it('lists each exchange, with bodies, and the events of streams', async () => {
    const { text } = await write('har', await adopted(recordsOf(stream)))
    const shown = await opened(text)
    expect(shown).toEqual(expected(text))
    expect(shown.map(({ method, url, status }) => [method, url, status])).toEqual([
      ['POST', 'https://example.com/mcp?x=1', 200],
      ['POST', 'https://example.com/mcp?x=1', 401],
    ])
    expect(shown[0]!.asked).toContain('é😀')
    expect(shown[0]!.events).toEqual([
      expect.objectContaining({ eventName: 'message', eventId: 'e1', time: 1785578400.104 }),
      expect.objectContaining({
        eventName: 'message',
        eventId: 'e2',
        data: expect.stringContaining('"text":"é"'),
      }),
    ])
    const row = page.locator('tr.data-grid-data-grid-node td.name-column')
    await row.first().click()
    await page.getByRole('tab', { name: 'EventStream' }).click()
    await page.getByText('"progressToken":7').waitFor()
  })

  it('lists any session', async () => {
    for (const http of [true, false]) {
      const samples = fc.sample(sessions({ http }), { numRuns: 12, seed: 5 })
      for (const records of samples) {
        const { text } = await write('har', await adopted(records))
        expect(await opened(text)).toEqual(expected(text))
      }
    }
  })
})
