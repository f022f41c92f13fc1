import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { cli, viewerAddress, useStage } from '../behaviour/stage.js'
import { picture, seriousFindings } from './looks.js'
import { holds } from './on-the-page.js'
import { expectQuiet, hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

const jsonrpc = '2.0'
const tools = ['weather', 'news'].map((name) => ({ name, inputSchema: { type: 'object' } }))
const fine = { result: { content: [{ type: 'text', text: 'sun' }] } }
const failed = { result: { content: [{ type: 'text', text: 'no sun' }], isError: true } }
const refused = { error: { code: -32602, message: 'no such city' } }

/** A recording with every kind of failure: three failed tools, two JSON-RPC errors of calls, one error without a request. */
function troubled(end: boolean): string {
  let id = 0
  let us = 0
  const ask = (method: string, params: object, answer?: object): string[] => {
    id += 1
    us += 1_000_000
    const request = messageLine('in', JSON.stringify({ jsonrpc, id, method, params }), { us })
    if (!answer) return [request]
    const { id: corr } = JSON.parse(request) as { id: string }
    return [request, messageLine('out', JSON.stringify({ jsonrpc, id, ...answer }), { corr, us: us + 1000 })]
  }
  const call = (name: string, answer?: object): string[] => ask('tools/call', { name, arguments: {} }, answer)
  const http = (more: object): string =>
    JSON.stringify({ t: '2026-08-01T10:00:01.000Z', us, type: 'http', http: 'POST', path: '/mcp', ...more })
  const lines = [
    ...ask('tools/list', {}, { result: { tools } }),
    ...call('weather', fine),
    ...call('weather', failed),
    ...call('weather', failed),
    ...call('news', failed),
    ...call('news', refused),
    ...ask('resources/read', { uri: 'demo://nothing' }, refused),
    messageLine('out', JSON.stringify({ jsonrpc, id: null, error: { code: -32700, message: 'not JSON' } }), {
      us: us + 5000,
    }),
    http({ exchange: 1, method: 'POST', status: 502 }),
    http({ exchange: 2, method: 'POST', why: 'the server did not answer' }),
    http({ exchange: 3, method: 'POST', status: 200 }),
    ...call('news'),
    ...call('weather'),
  ]
  const text = tapeOf(lines, 'troubled')
  return end ? text : text.replace(/[^\n]*\n$/, '')
}

describe.skipIf(!hasBrowser)('counts of the viewer', () => {
  const stage = useViewer()
  const play = useStage()
  beforeAll(async () => {
    stage.serve('/troubled.jsonl', troubled(true))
    stage.serve('/cut.jsonl', troubled(false))
  })

  it('agree on errors at the top, in the chip, the filter, the tools and the page of a tool', async () => {
    const page = await stage.open('/?trace=cut.jsonl')
    await page.locator('.troubles').waitFor()
    expect(await page.locator('.troubles button').allTextContents()).toEqual([
      '6 errors',
      '2 HTTP errors',
      '2 unanswered requests',
      '1 unmatched message',
      '4 calls after an error of their tool',
      'truncated: the recording has no end',
    ])
    expect(await page.locator('.chip .bad-count').textContent()).toBe('6')
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await seriousFindings(page)).toEqual([])
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 900 })
        await picture(page, `troubles-${colorScheme}`)
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 })
    const count = async (button: string): Promise<string | null> => {
      await page.locator('.troubles button', { hasText: button }).click()
      await holds(page, `/^[\\d,]+$/.test(document.querySelector('.slot-filter .count')?.textContent ?? '')`)
      const text = await page.locator('.slot-filter .count').textContent()
      await page.locator('.button', { hasText: 'Clear' }).click()
      await page.locator('.slot-filter .count').waitFor({ state: 'detached' })
      return text
    }
    expect(await count('6 errors')).toBe('6')
    expect(await count('HTTP errors')).toBe('2')
    expect(await count('unanswered')).toBe('2')
    expect(await count('unmatched')).toBe('1')
    await page.keyboard.press('3')
    await page.locator('.other-errors', { hasText: '1 error response without a request' }).waitFor()
    const cells = page.locator('.tools-page td.bad')
    expect(
      (await cells.allTextContents()).map((text) => Number.parseInt(text, 10)).toSorted((a, b) => a - b),
    ).toEqual([1, 2, 2])
    for (const [name, errors] of [
      ['weather', '2'],
      ['news', '2'],
    ] as const) {
      await page.locator('.offer-list summary', { hasText: name }).click()
      await page.locator('.tool-facts h3', { hasText: `Errors ${errors}` }).waitFor()
    }
    expectQuiet(stage)
    await page.context().close()
  })

  it('obey the filter and the marked stretch of time in Tools and in Cost', async () => {
    const page = await stage.open('/?trace=troubled.jsonl#view=tools&tool=weather')
    const usage = page.locator('.tools-page section').first().locator('tbody tr')
    const calls = async (name: string): Promise<string> =>
      (await usage.filter({ hasText: name }).locator('td').first().textContent()) ?? ''
    await expect.poll(() => calls('weather')).toBe('4')
    const cost = (name: string): Promise<string[]> =>
      page.locator('.cost-page tbody tr', { hasText: name }).locator('td.number').allTextContents()
    await page.keyboard.press('6')
    await expect.poll(async () => (await cost('weather')).at(1)).toBe('3')
    const [tokens, , results] = (await cost('weather')) as [string, string, string]
    const bars = await page
      .locator('.cost-page tbody tr', { hasText: 'weather' })
      .locator('.bars i')
      .evaluateAll((all) => all.map((bar) => Number.parseFloat(bar.style.width)))
    expect(Math.max(...bars)).toBe(100)
    await page.fill('[data-find=filter]', 'tool:weather is:error')
    await page
      .locator('.cost-total', { hasText: /The filter shows \d+ tokens of results of 2 calls/ })
      .waitFor()
    expect(await page.locator('.cost-page tbody tr').count()).toBe(1)
    const filtered = (await cost('weather')) as [string, string, string]
    expect(filtered.slice(0, 2)).toEqual([tokens, '2'])
    expect(Number(filtered[2])).toBeLessThan(Number(results))
    await page.fill('[data-find=filter]', 'method:ping')
    await page.locator('.cost-page', { hasText: 'No calls match the filter.' }).waitFor()
    await page.fill('[data-find=filter]', '')
    // The first two calls: the list of tools is at one second.
    await page.goto('about:blank')
    await page.goto(`${stage.url}/?trace=troubled.jsonl#view=tools&range=1500000..3500000`)
    await expect.poll(() => usage.count()).toBe(1)
    expect(await calls('weather')).toBe('2')
    await page.keyboard.press('6')
    await page.locator('.cost-total', { hasText: 'of 2 calls' }).waitFor()
    await page.locator('.button', { hasText: 'Clear' }).click()
    await expect.poll(async () => (await cost('news')).at(1)).toBe('2')
    expectQuiet(stage)
    await page.context().close()
  })

  it('are the same on the list of recordings, as the recorder counts', async () => {
    const out = join(play.env['XDG_DATA_HOME']!, 'wiretape/recordings')
    mkdirSync(out, { recursive: true })
    const said = troubled(true)
      .split('\n')
      .flatMap((line) =>
        line.includes('"dir":"out"') ? [JSON.stringify((JSON.parse(line) as { raw: object }).raw)] : [],
      )
    // A server that writes all these lines and ends.
    const saying = join(play.folder, 'saying.mjs')
    writeFileSync(saying, `process.stdout.write(${JSON.stringify(`${said.join('\n')}\n`)})`)
    const recorder = play.start([process.execPath, cli, 'record', '--', process.execPath, saying])
    await recorder.ended
    const actor = play.start([process.execPath, cli, 'ui', '--no-open'])
    const page = await stage.open(await viewerAddress(actor))
    const recording = page.locator('.recording').first()
    await recording.waitFor()
    expect(await recording.locator('td.bad').textContent()).toBe('6')
    await recording.locator('a, button').first().click()
    await page.locator('.troubles button', { hasText: '6 errors' }).waitFor()
    await page.context().close()
  })
})
