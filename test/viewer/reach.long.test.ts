import { beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { picture, seriousFindings } from './looks.js'
import { holds, read } from './on-the-page.js'
import { hasBrowser, useViewer } from './stage.js'
import { messageLine, tapeOf } from './tapes.js'

const jsonrpc = '2.0'
const t = '2026-08-01T10:00:01.000Z'
const idOf = (line: string): string => (JSON.parse(line) as { id: string }).id
const result = (id: number, members: object): string => JSON.stringify({ jsonrpc, id, result: members })
const request = (id: number, method: string, params: object): string =>
  JSON.stringify({ jsonrpc, id, method, params })
const text = (words: string): object => ({ content: [{ type: 'text', text: words }] })

/** Requests of several kinds; one dropped by a rule, one answered by a person; a gap. */
function mixedTape(): string {
  const asks = [
    ['tools/list', {}, { tools: [{ name: 'walk', inputSchema: { type: 'object' } }] }],
    ['prompts/get', { name: 'plan', arguments: { city: 'Oslo' } }, { messages: [] }],
    ['resources/read', { uri: 'demo://a/1' }, { contents: [] }],
    ['tools/call', { name: 'walk', arguments: {} }, { ...text('fell'), isError: true }],
    ['tools/call', { name: 'walk', arguments: {} }, text('arrived')],
  ] as const
  const lines = asks.flatMap(([method, params, members], i) => {
    const line = messageLine('in', request(i + 1, method, params), { us: (i + 1) * 10_000 })
    return [
      line,
      messageLine('out', result(i + 1, members), { corr: idOf(line), us: (i + 1) * 10_000 + 900 }),
    ]
  })
  const held = (id: number, name: string, us: number): string =>
    messageLine('in', request(id, 'tools/call', { name, arguments: {} }), { us }).replace(
      '"dir"',
      '"type":"held","dir"',
    )
  const dropped = (line: string, us: number, more: object): string =>
    JSON.stringify({ t, type: 'dropped', us, id: idOf(line), ...more })
  const gone = held(20, 'gone', 100_000)
  const answered = held(21, 'answered', 110_000)
  return tapeOf(
    [
      ...lines,
      gone,
      dropped(gone, 101_000, { why: 'the rule no', rule: 'no' }),
      answered,
      dropped(answered, 111_000, { why: 'a person answered' }),
      messageLine('out', result(21, text('from me')), { corr: idOf(answered), us: 112_000, injected: true }),
      JSON.stringify({ t, type: 'gap', us: 120_000, lost: 3, why: 'the disk was slow' }),
    ],
    'mixed',
  )
}

/** A call over HTTP whose connection was made for it, and a second one on the same connection. */
function httpTape(): string {
  const http = (exchange: number, more: object): object => ({ http: { exchange, ...more } })
  const call = (id: number, us: number, phases: object): string[] => {
    const line = messageLine('in', request(id, 'tools/call', { name: 'far', arguments: {} }), {
      us,
      ...http(id, { method: 'POST', path: '/mcp' }),
    })
    const answer = messageLine('out', result(id, text('here')), {
      us: us + 260_000,
      corr: idOf(line),
      ...http(id, { status: 200, phases }),
    })
    return [line, answer]
  }
  return tapeOf(
    [
      ...call(1, 1_000_000, { dnsMs: 21, connectMs: 34, tlsMs: 55, waitMs: 140 }),
      ...call(2, 2_000_000, { waitMs: 250 }),
    ],
    'far',
  )
}

/** A call of each name, with so many notifications of its progress. */
function progressTape(counts: Readonly<Record<string, number>>): string {
  const lines = Object.entries(counts).flatMap(([name, count], i) => {
    const id = i + 1
    const params = { name, arguments: {}, _meta: { progressToken: id } }
    const call = messageLine('in', request(id, 'tools/call', params))
    const linked = [{ kind: 'progress', to: idOf(call) }]
    const told = Array.from({ length: count }, (_, step) => {
      const progress = { progressToken: id, progress: step + 1, message: `${name} ${step + 1}` }
      const method = 'notifications/progress'
      return messageLine('out', JSON.stringify({ jsonrpc, method, params: progress }), { linked })
    })
    return [call, ...told, messageLine('out', result(id, text('done')), { corr: idOf(call) })]
  })
  return tapeOf(lines, 'progress')
}

describe.skipIf(!hasBrowser)('nothing of a recording is out of reach', () => {
  const stage = useViewer()
  beforeAll(async () => {
    stage.serve('/mixed.jsonl', mixedTape())
    stage.serve('/far.jsonl', httpTape())
  })

  it('says at the top what was tried again and what is missing, and marks what was dropped and injected', async () => {
    const page = await stage.open('/?trace=mixed.jsonl')
    await page.locator('.troubles').waitFor()
    const said = await page.locator('.troubles button').allTextContents()
    expect(said).toEqual(['1 error', '1 call after an error of its tool', '1 gap in the recording'])
    await page.locator('.row.is-dropped', { hasText: 'gone' }).waitFor()
    expect(await page.locator('.row', { hasText: 'gone' }).first().locator('.status').textContent()).toBe(
      'dropped',
    )
    await page.locator('.row', { hasText: 'walk answered' }).or(page.locator('.row.ours')).first().waitFor()
    await page.locator('.row.ours .tag', { hasText: 'answered by' }).first().waitFor()
    await page.locator('.troubles button', { hasText: 'call after an error' }).click()
    await page.locator('.detail .block.text', { hasText: 'arrived' }).waitFor()
    await page.locator('.troubles button', { hasText: 'gap' }).click()
    await page.locator('.row.selected', { hasText: 'the disk was slow' }).waitFor()
    await picture(page, 'troubles-gap')
  })

  it('shows all steps of a call that has hundreds, in its details and in its story', async () => {
    stage.serve('/progress.jsonl', progressTape({ walk: 200, run: 450 }))
    const page = await stage.open('/?trace=progress.jsonl')
    await read(page, 654)
    await page.locator('.row', { hasText: 'tools/call walk' }).click()
    const steps = page.locator('.steps > li:not(.more-steps)')
    await steps.nth(59).waitFor()
    expect(await steps.count()).toBe(60)
    // The response is always there, after the steps that are left out.
    expect(await steps.last().textContent()).toContain('result of tools/call')
    await picture(page, 'steps-many')
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('button', { name: 'Show 142 more of 142 steps' }).click()
    await steps.nth(201).waitFor()
    expect(await steps.count()).toBe(202)
    expect(await page.locator('.more-steps').count()).toBe(0)

    await page.locator('.detail-tabs button', { hasText: 'Story' }).click()
    const told = page.locator('.story-steps > li')
    await told.nth(201).waitFor()
    expect(await told.count()).toBe(202)
    await told.nth(200).getByText('walk 200').waitFor()
    await page.locator('.row', { hasText: 'tools/call run' }).click()
    await told.nth(1).getByText('run 1').waitFor()
    expect(await told.count()).toBe(400)
    await page.getByRole('button', { name: 'Show more (52 further steps)' }).click()
    await told.nth(451).waitFor()
    expect(await told.count()).toBe(452)
    await told.nth(450).getByText('run 450').waitFor()
  })

  it('names the command that explains a call of a recording too large for the page', async () => {
    const call = messageLine('in', request(1, 'tools/call', { name: 'walk', arguments: {} }))
    const answer = messageLine('out', result(1, text('arrived')), { corr: idOf(call) })
    const data = { level: 'info', data: 'x'.repeat(33 << 20) }
    const large = messageLine(
      'out',
      JSON.stringify({ jsonrpc, method: 'notifications/message', params: data }),
    )
    stage.serve('/large.jsonl', tapeOf([call, answer, large]))
    const page = await stage.open('/?trace=large.jsonl')
    await read(page, 3)
    await page.locator('.row', { hasText: 'tools/call walk' }).click()
    await page.locator('.detail-tabs button', { hasText: 'Story' }).click()
    const told = page.locator('.story-told')
    await told.getByText('The page explains calls of recordings up to').waitFor()
    const { seq } = JSON.parse(call) as { seq: number }
    expect(await told.locator('code').textContent()).toBe(`wiretape explain large.jsonl ${seq}`)
    await picture(page, 'story-not-explained')
  })

  it('copies the response alone, and prompts and resources as code and rules', async () => {
    const page = await stage.open('/?trace=mixed.jsonl', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.locator('.row', { hasText: 'prompts/get' }).waitFor()
    const taken = async (): Promise<string> => {
      await holds(page, `navigator.clipboard.readText().then((text) => text !== '')`)
      const copied = await page.evaluate<string>('navigator.clipboard.readText()')
      await page.evaluate(`navigator.clipboard.writeText('')`)
      return copied
    }
    await page.evaluate(`navigator.clipboard.writeText('')`)
    const forms = (row: string): Promise<string[]> => formsOf(page, row)
    expect(await forms('tools/list')).not.toContain('Copy as Python')
    const prompt = await forms('prompts/get')
    for (const form of ['Python', 'TypeScript', 'wiretape call']) expect(prompt).toContain(`Copy as ${form}`)
    await page.locator('.row', { hasText: 'resources/read' }).click({ button: 'right' })
    await page.getByRole('menuitem', { name: 'Copy as response', exact: true }).click()
    expect(JSON.parse(await taken())).toEqual({ jsonrpc, id: 3, result: { contents: [] } })
    await page.locator('.row', { hasText: 'prompts/get' }).click()
    const fromDetail = async (form: string | RegExp): Promise<string> => {
      await page.locator('.menu > .button').click()
      await page.locator('.menu-list button', { hasText: form }).click()
      return taken()
    }
    expect(JSON.parse(await fromDetail(/^as response$/))).toEqual({
      jsonrpc,
      id: 2,
      result: { messages: [] },
    })
    expect(await fromDetail('Python')).toContain('session.get_prompt("plan"')
    expect(await fromDetail('wiretape call')).toMatch(/^wiretape call --from mixed\.jsonl \d+$/)
    expect(await fromDetail('rule')).toContain('prompt:plan path:$.params.arguments.city=')
  })

  it('tells the phases of an HTTP exchange in its story, names and TLS too', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await stage.open('/?trace=far.jsonl', { colorScheme })
      await read(page, 4)
      await page.locator('.row', { hasText: 'far' }).first().click()
      await page.locator('.detail-tabs button', { hasText: 'Story' }).click()
      const phases = page.locator('.http-phases')
      await phases.waitFor()
      expect(await phases.locator('dt').allTextContents()).toEqual([
        'DNS',
        'connect',
        'TLS',
        'wait',
        'stream',
      ])
      expect((await phases.locator('.phase-time').allTextContents()).slice(0, 4)).toEqual([
        '21 ms',
        '34 ms',
        '55 ms',
        '140 ms',
      ])
      expect(await seriousFindings(page)).toEqual([])
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 900 })
        await picture(page, `phases-${colorScheme}`)
      }
      await page.context().close()
    }
    const page = await stage.open('/?trace=far.jsonl')
    await read(page, 4)
    await page.locator('.row', { hasText: 'far' }).nth(1).click()
    await page.locator('.detail-tabs button', { hasText: 'Story' }).click()
    await page.locator('.http-phases', { hasText: 'on a reused connection' }).waitFor()
    expect(await page.locator('.http-phases dt').allTextContents()).not.toContain('DNS')
  })
})

async function formsOf(page: Page, row: string): Promise<string[]> {
  await page.locator('.row', { hasText: row }).first().click({ button: 'right' })
  const forms = await page.getByRole('menuitem').allTextContents()
  await page.keyboard.press('Escape')
  return forms
}
