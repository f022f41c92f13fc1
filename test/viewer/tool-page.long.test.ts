import { beforeAll, describe, expect, it } from 'vitest'
import type { Locator } from 'playwright-core'
import { expectLooks, picture, seriousFindings } from './looks.js'
import { holds, read } from './on-the-page.js'
import { hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

let id = 0

/** A request and its response, lines of a tape. */
function ask(method: string, params: object, answer: object, us = 1_000): string[] {
  id += 1
  const request = messageLine('in', JSON.stringify({ jsonrpc: '2.0', id, method, params }), { us: id * 1e7 })
  const { id: corr } = JSON.parse(request) as { id: string }
  const raw = JSON.stringify({ jsonrpc: '2.0', id, ...answer })
  return [request, messageLine('out', raw, { corr, us: id * 1e7 + us })]
}

describe.skipIf(!hasBrowser)('the page of a tool', () => {
  const stage = useViewer()
  beforeAll(async () => {
    const cancelled = (params: object): string[] => {
      const [request] = ask('tools/call', params, {})
      const reason = { method: 'notifications/cancelled', params: { requestId: id } }
      return [
        request!,
        messageLine('in', JSON.stringify({ jsonrpc: '2.0', ...reason }), {
          us: id * 1e7 + 1,
          linked: [{ kind: 'cancel', to: (JSON.parse(request!) as { id: string }).id }],
        }),
      ]
    }
    const place = {
      type: 'object',
      properties: { city: { type: 'string', minLength: 1 } },
      required: ['city'],
    }
    const inputSchema = {
      type: 'object',
      required: ['at', '<b>'],
      properties: {
        at: { ...place, description: 'Where to look' },
        unit: { enum: ['C', 'F'], default: 'C' },
        days: { type: ['integer', 'null'], minimum: 1, maximum: 14 },
        '<b>': { type: 'array', items: { type: 'string' } },
      },
    }
    const tool = { name: 'weather', description: 'Tells the weather', inputSchema }
    const call = (city: string): object => ({ name: 'weather', arguments: { at: { city }, '<b>': [] } })
    const ok = { result: { content: [{ type: 'text', text: 'sun' }] } }
    const failed = { content: [{ type: 'text', text: 'quota of <b> used up\nat line 3' }], isError: true }
    const lines = [
      ...ask('tools/list', {}, { result: { tools: [tool] } }),
      ...ask('tools/call', call('Oslo'), ok, 2_000),
      ...ask('tools/call', call('Rome'), ok, 3_000),
      ...ask('tools/call', call('Lima'), ok, 900_000),
      ...ask('tools/call', call('Nowhere'), { error: { code: -32602, message: 'no such city <i>' } }),
      ...ask('tools/call', call('Nowhere'), { error: { code: -32602, message: 'no such city <i>' } }),
      ...ask('tools/call', call('Turin'), { result: failed }),
      ...ask('tools/call', call('Bonn'), { result: { ...failed, content: [] } }),
      ...ask('tools/call', call('Rome'), { result: failed }),
      ...cancelled(call('Paris')),
      ...ask('tools/list', {}, { result: { tools: [{ ...tool, description: 'Always tells sun' }] } }),
    ]
    stage.serve('/weather.jsonl', tapeOf(lines))
  })

  it('has its schema, its calls, errors and latencies as the filter shows them, and its changes', async () => {
    const page = await stage.open('/?trace=weather.jsonl#view=tools&tool=weather')
    const facts = page.locator('.tool-facts')
    await facts.locator('h3', { hasText: 'Errors' }).waitFor()
    const schema = await facts.locator('.schema tbody tr').allTextContents()
    expect(schema).toEqual([
      'atrequiredobjectWhere to look',
      'cityrequiredstringcharacters: at least 1',
      'unitstringone of "C", "F"; default "C"',
      'daysinteger | nullat least 1; at most 14',
      '<b>requiredstring[]',
    ])
    expect(await facts.locator('section', { hasText: 'Errors' }).locator('li').allTextContents()).toEqual([
      expect.stringMatching(/^2 times -32602 no such city <i> #\d+ #\d+ $/),
      expect.stringMatching(/^2 times quota of <b> used up( …)? #\d+ #\d+ $/),
      expect.stringMatching(/^1 time no text #\d+ $/),
    ])
    const used = page.locator('.tools-page tbody tr', { hasText: 'weather' })
    expect(await used.locator('td').nth(1).textContent()).toBe('5 56 % 1 cancelled')
    await facts.locator('code', { hasText: 'Lima' }).waitFor()
    const text = (await facts.textContent()) ?? ''
    expect(text).toMatch(/Calls.*first.*2\.0 ms.*slowest.*900 ms.*failed/)
    const change = facts.locator('section', { hasText: 'Changes' }).locator('li')
    expect(await change.locator('.tag').first().textContent()).toBe('review')
    await change.locator('.tag.level-warning', { hasText: 'changed-definition' }).waitFor()
    await facts
      .locator('section', { hasText: 'Cost' })
      .getByText(/About \d+ tokens in every prompt/)
      .waitFor()
    await facts.locator('section', { hasText: 'Findings' }).getByText('safety/changed-definition').waitFor()
    const offer = page.locator('.offer-list summary', { hasText: 'weather' })
    await offer.locator('.tag.level-warning', { hasText: '1 warning' }).waitFor()
    expect(await offer.locator('.offer-cost').textContent()).toMatch(/^\d+ tokens$/)
    expect(await facts.locator('.histogram tr').count()).toBeGreaterThan(5)
    expect(await seriousFindings(page)).toEqual([])
    await picture(page, 'tool-page')
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 1024, height: 900 })
    await picture(page, 'tool-page')
    await page.setViewportSize({ width: 390, height: 844 })
    await picture(page, 'tool-page-phone')
    await page.setViewportSize({ width: 1440, height: 900 })

    await page.locator('[data-find=filter]').fill('text:Oslo')
    await holds(page, `document.querySelectorAll('.tool-facts .histogram tr').length === 1`)
    expect(
      await page.locator('.tools-page tbody tr', { hasText: 'weather' }).locator('td').first().textContent(),
    ).toBe('1')
    await page.locator('[data-find=filter]').fill('')
    await holds(page, `document.querySelectorAll('.tool-facts .histogram tr').length > 5`)

    await facts.getByRole('button', { name: 'slowest' }).click()
    await read(page, 22)
    await page.locator('.detail', { hasText: 'Lima' }).waitFor()
    await page.goBack().catch(() => undefined)
  })

  it('tells recordings apart, and shows what changed since the previous one', async () => {
    const long = 'a_name_that_needs_more_than_one_line_on_a_telephone_of_usual_width'
    const record = (unit: string, more: string, calls: number): string => {
      const tool = { name: 'weather', description: `Tells the weather in ${unit}.${more}`, inputSchema: {} }
      const peers = { capabilities: {}, protocolVersion: '2025-11-25' }
      const result = { content: [{ type: 'text', text: 'sun' }] }
      return tapeOf(
        [
          ...ask('initialize', peers, { result: { ...peers, serverInfo: { name: 'sky', version: '1' } } }),
          ...ask('tools/list', {}, { result: { tools: [tool, { name: long, inputSchema: {} }] } }),
          ...Array.from({ length: calls }, () =>
            ask('tools/call', { name: 'weather', arguments: {} }, { result }),
          ).flat(),
        ],
        'sky',
      )
    }
    const start = (hour: string, text: string): string =>
      text.replace('2026-08-01T10:00:00.000Z', `2026-08-01T${hour}:00:00.000Z`)
    const files = ['2026-08-01T09-00-00-000Z-sky', '2026-08-01T10-00-00-000Z-sky']
    stage.serve(`/${files[0]}.jsonl`, start('09', record('Celsius', ' It tells no more.', 3)))
    stage.serve(`/${files[1]}.jsonl`, start('10', record('Fahrenheit', '', 2)))
    // The newer one first: the order of time counts.
    const page = await stage.open(`/?trace=${files[1]}.jsonl;${files[0]}.jsonl#view=tools&tool=weather`)
    await page.locator('.tools-page h2', { hasText: 'Usage in 2 recordings' }).waitFor()
    const part = (name: string): Locator =>
      page.locator('.offers', { hasText: `Definitions of ${name}:00:00 UTC · sky` })
    const [older, newer] = [part('09'), part('10')]
    await newer.getByText(/Results of 2 calls: \d+ tokens/).waitFor()
    await older.getByText(/Results of 3 calls: \d+ tokens/).waitFor()
    const tokens = async (of: Locator): Promise<number> =>
      Number.parseInt((await of.locator('.offer-cost').first().textContent()) ?? '', 10)
    expect(await tokens(older)).toBeGreaterThan(await tokens(newer))
    expect(await older.locator('.offer-changes').count()).toBe(0)
    const change = newer.locator('.tool-facts section', { hasText: 'Changes' }).locator('li')
    expect(await change.count()).toBe(1)
    await change.getByText('since 09:00:00 UTC · sky').waitFor()
    expect(await change.locator('.word-diff del').first().textContent()).toBe('Celsius')
    expect(await change.locator('.word-diff ins').first().textContent()).toBe('Fahrenheit')
    await expectLooks(page, 'tools-of-two')
    // On a phone, wide tables scroll in their own box, and names are not cut off.
    expect(
      await page.evaluate(`(() => {
        const page = document.querySelector('.tools-page')
        const name = [...document.querySelectorAll('.offer-list summary b')].at(-1)
        return [page.scrollWidth - page.clientWidth, name.textContent.length, name.getBoundingClientRect().right < 390]
      })()`),
    ).toEqual([0, long.length, true])
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.keyboard.press('6')
    await page.locator('.cost-total', { hasText: 'Calls of 2 recordings are counted together' }).waitFor()
    await page.locator('.lane-tab', { hasText: '09:00:00 UTC · sky' }).click()
    await expect
      .poll(() =>
        page.locator('.cost-page tbody tr', { hasText: 'weather' }).locator('td.number').nth(1).textContent(),
      )
      .toBe('3')
    await page.keyboard.press('3')
    await page.locator('.tools-page h2', { hasText: 'Usage in 09:00:00 UTC · sky' }).waitFor()
  })
})
