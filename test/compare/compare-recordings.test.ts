import { describe, expect, it } from 'vitest'
import {
  collectReport,
  RecordingComparison,
  detailsOf,
  ignoreRule,
  matchRule,
  parseMatchRule,
  plainSettings,
  reportKinds,
  titleOf,
  type CompareSettings,
} from '../../src/compare/index.js'
import { compareAnswers } from '../../src/compare/verdict.js'
import { isLong } from '../long.js'
import { call, compared, recordingOf, tapeOf, type Said } from './stage.js'

/** The differences, one line each. */
async function differences(
  before: readonly Said[],
  after: readonly Said[],
  settings?: Partial<CompareSettings>,
): Promise<string[]> {
  const { exchanges } = await compared(before, after, { level: 'semantic', rules: [], ...settings })
  return exchanges
    .filter(({ verdict }) => verdict !== 'same')
    .map((exchange) => [exchange.verdict, titleOf(exchange), ...detailsOf(exchange)].join(' | '))
}

async function offers(before: readonly Said[], after: readonly Said[]): Promise<string[]> {
  const { summary } = await compared(before, after)
  return summary.offers.map(({ kind, name, change, impact, details }) =>
    [impact, kind, name, change, ...details].join(' | '),
  )
}

const failed = { isError: true, content: [{ type: 'text', text: 'no such city' }] }

describe('two recordings', () => {
  it('are the same where requests came in another order, with other ids, tokens and cursors', async () => {
    const before = [
      call('a', { x: 1 }, 'one'),
      call('b', {}, { n: 1.5 }),
      { method: 'tools/list', params: { cursor: 'p2' }, result: { tools: [], nextCursor: 'p3' } },
    ]
    const after = [
      { method: 'tools/list', params: { cursor: 'q2' }, result: { tools: [], nextCursor: 'q3' } },
      call('b', {}, '{ "n": 15e-1 }'),
      {
        ...call('a', { x: 1 }, 'one'),
        params: { _meta: { progressToken: 9 }, arguments: { x: 1 }, name: 'a' },
      },
    ]
    expect(await differences(before, after)).toEqual([])
  })

  it('pair equal requests in their order', async () => {
    const [one, two] = [call('next', {}, '1'), call('next', {}, '2')]
    expect(await differences([one, two], [one, two])).toEqual([])
    expect(await differences([one, two], [two, one])).toHaveLength(2)
  })

  it('tell every verdict', async () => {
    const error = { code: -32602, message: 'Bad city' }
    const before: Said[] = [
      call('changed', {}, { price: 1 }),
      call('fails', {}, 'ok'),
      call('fails-as-tool', {}, 'ok'),
      { ...call('recovers', {}, ''), result: failed },
      call('gone', {}, 'ok'),
      call('silent', {}, 'ok'),
      { method: 'ping' },
    ]
    const after: Said[] = [
      call('changed', {}, { price: 2 }),
      { method: 'tools/call', params: call('fails', {}, '').params, error },
      { ...call('fails-as-tool', {}, ''), result: failed },
      call('recovers', {}, 'ok'),
      { ...call('silent', {}, ''), result: undefined },
      { method: 'ping' },
      call('brand-new', {}, 'ok'),
    ]
    expect(await differences(before, after)).toEqual([
      'changed | tools/call changed | ~ result.content[0].text.price 1 → 2',
      'error now | tools/call fails | error -32602: Bad city',
      'error now | tools/call fails-as-tool | isError: no such city',
      'fixed now | tools/call recovers | was isError: no such city',
      'missing | tools/call gone',
      'timed out | tools/call silent',
      'new | tools/call brand-new',
    ])
  })

  it('take a redacted argument for any value', async () => {
    const before: Said = {
      ...call('login', { user: 'a', token: '[REDACTED]' }, 'hi'),
      red: ['/params/arguments/token'],
    }
    expect(await differences([before], [call('login', { user: 'a', token: 's3cret' }, 'hi')])).toEqual([])
    expect(await differences([before], [call('login', { user: 'b', token: 's3cret' }, 'hi')])).toHaveLength(2)
  })

  it('match redacted values at other places on each side with any value, in any order', async () => {
    const login = (user: string, token: string, red: string[] = []): Said => ({
      ...call('login', { user, token }, 'hi'),
      ...(red.length > 0 && { red: red.map((name) => `/params/arguments/${name}`) }),
    })
    const users = ['a', 'b', 'c', 'd']
    const plain = users.map((user) => login(user, `token of ${user}`))
    const noToken = users.map((user) => login(user, '[REDACTED]', ['token'])).toReversed()
    const noUser = users.map((user) => login('[REDACTED]', `token of ${user}`, ['user']))
    expect(await differences(noToken, plain)).toEqual([])
    expect(await differences(plain, noToken)).toEqual([])
    expect(await differences(noToken, noUser)).toEqual([])
    expect(await differences(noToken, [...plain, login('e', 'x')])).toEqual(['new | tools/call login'])
  })

  it('are held against others once, however many redacted ones have no partner', async () => {
    const login = (key: string, i: number, red?: object): Said => ({
      ...call('login', { [key]: i, token: 'x' }, 'hi'),
      ...red,
    })
    const length = isLong ? 3000 : 500
    const numbers = Array.from({ length }, (_, i) => i)
    const red = { red: ['/params/arguments/token'] }
    let reads = 0
    const [before, after] = [numbers.map((i) => login('i', i, red)), numbers.map((i) => login('j', i))].map(
      (said) => {
        const recording = recordingOf(tapeOf(said))
        return {
          ...recording,
          read: (locator: number) => {
            reads += 1
            return recording.read(locator)
          },
        }
      },
    )
    const comparison = new RecordingComparison(before!, after!, plainSettings)
    for await (const { verdict } of comparison.exchanges) expect(['missing', 'new']).toContain(verdict)
    expect(comparison.summary().counts).toMatchObject({ missing: length, new: length })
    expect(reads).toBeLessThan(20 * length)
  })

  it('differ where the rules do not say otherwise', async () => {
    const [before, after] = [
      [call('now', {}, { at: '2026-01-01T00:00:00Z', id: '0b0e1f8c-8d3e-4e0e-9d0a-111111111111', took: 12 })],
      [
        call(
          'now',
          {},
          { at: '2026-02-03T04:05:06.7Z', id: '5b0e1f8c-8d3e-4e0e-9d0a-222222222222', took: 13 },
        ),
      ],
    ]
    const text = '$.result.content[0].text'
    expect(await differences(before, after)).toHaveLength(1)
    const rules = [
      matchRule(`${text}.at`, 'timestamp'),
      parseMatchRule(`${text}.id=uuid`),
      parseMatchRule(`$..took=number~10%`),
    ]
    expect(await differences(before, after, { rules })).toEqual([])
    expect(await differences(before, after, { rules: rules.slice(1) })).toHaveLength(1)
    expect(await differences(before, after, { rules: [ignoreRule('$.result.content[*].text')] })).toEqual([])
    expect(
      await differences(before, after, { rules: [ignoreRule('$.result', { name: 'other' })] }),
    ).toHaveLength(1)
  })

  const listed = (result: object): Said[] => [{ method: 'tools/list', result }]

  it.each([
    ['in another order', { tools: [{ name: 'b' }, { name: 'a' }] }],
    ['twice', { tools: [{ name: 'a' }, { name: 'b' }, { name: 'b' }] }],
    ['with things that have no name', { tools: [{ name: 'a' }, { name: 'b' }, { x: 1 }, 7] }],
    ['not as a list', { tools: 'x' }],
  ])('at level exact differ where tools are listed %s', async (_, now) => {
    const before = listed({ tools: [{ name: 'a' }, { name: 'b' }] })
    expect(await differences(before, listed(now), { level: 'exact' })).toHaveLength(1)
    expect(await differences(before, before, { level: 'exact' })).toEqual([])
  })

  it.each([
    ['is gone', { tools: [] }, {}],
    [
      'names a tool twice',
      { tools: [{ name: 'a' }] },
      { tools: [{ name: 'a', description: 'x' }, { name: 'a' }] },
    ],
    ['has a thing without a name', { tools: [{ name: 'a' }] }, { tools: [{ name: 'a' }, { x: 1 }] }],
  ])('differ where a list of tools %s, which no offer tells', async (_, before, now) => {
    expect(await differences(listed(before), listed(now))).toHaveLength(1)
  })

  it('at level exact differ in spelling, and never in ids', async () => {
    const before = [call('a', {}, '{"n":1}')]
    expect(
      await differences(before, [{ method: 'logging/setLevel' }, ...before], { level: 'exact' }),
    ).toEqual(['new | logging/setLevel'])
    expect(await differences(before, [call('a', {}, '{"n": 1}')], { level: 'exact' })).toHaveLength(1)
  })

  it('may repeat what was asked with another value, and nothing else', () => {
    const answer = (id: string, more: string): { text: string } => ({
      text: JSON.stringify({ result: { structuredContent: { id, more }, list: [1, { id }] } }),
    })
    const asked = { method: 'tools/call', name: 'a', echoes: new Map([['"order-0017"', '"order-0042"']]) }
    const verdictOf = (id: string, more: string): string =>
      compareAnswers(answer('order-0017', 'x'), answer(id, more), asked, { level: 'semantic', rules: [] })
        .verdict
    expect(verdictOf('order-0042', 'x')).toBe('same')
    expect(verdictOf('order-0043', 'x')).toBe('changed')
    expect(verdictOf('order-0042', 'order-0042')).toBe('changed')
    const said = (text: string): { text: string } => ({
      text: JSON.stringify({ result: { content: [{ text }] } }),
    })
    const sentence = (id: string, more = '.'): string =>
      compareAnswers(said('Sent "order-0017" (order-0017).'), said(`Sent "${id}" (${id})${more}`), asked, {
        level: 'semantic',
        rules: [],
      }).verdict
    expect(sentence('order-0042')).toBe('same')
    expect(sentence('order-0043')).toBe('changed')
    expect(sentence('order-0042', '!')).toBe('changed')
  })

  it('at level schema differ in shape, and where a result does not keep its outputSchema', async () => {
    const tools = (type: string): Said => ({
      method: 'tools/list',
      result: {
        tools: [
          { name: 'a', outputSchema: { type: 'object', properties: { n: { type } }, required: ['n'] } },
        ],
      },
    })
    const said = (n: unknown): Said => call('a', {}, { list: [1, 2, 3] }, { structuredContent: { n } })
    const level = { level: 'schema' } as const
    expect(await differences([tools('number'), said(1)], [tools('number'), said(2)], level)).toEqual([])
    expect(await differences([tools('number'), said(1)], [tools('number'), said('2')], level)).toEqual([
      'changed | tools/call a | ~ result.structuredContent.n 1 → "2" | schema: /result/structuredContent/n is a string, not number',
    ])
    expect(
      await differences([call('a', {}, { list: [1] })], [call('a', {}, { list: ['1', '2'] })], level),
    ).toEqual(['changed | tools/call a | ~ result.content[0].text.list[0] 1 → "1"'])
  })

  it('at level schema are the same where the old result broke its outputSchema in the same way, which is noted', async () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'number' }, all: { items: { type: 'string' } } },
    }
    const tools: Said = { method: 'tools/list', result: { tools: [{ name: 'a', outputSchema: schema }] } }
    const said = (n: unknown, all: unknown[]): Said => call('a', {}, 'x', { structuredContent: { n, all } })
    const level: CompareSettings = { level: 'schema', rules: [] }
    const { exchanges, summary } = await compared(
      [tools, said('1', [1])],
      [tools, said('2', ['a', 2, 3])],
      level,
    )
    expect(exchanges.map(({ verdict }) => verdict)).toEqual(['same', 'changed'])
    const { summary: same, exchanges: all } = await compared(
      [tools, said('1', [1, 2]), said(1, ['x'])],
      [tools, said('2', [3, 4, 5]), said(2, [])],
      level,
    )
    expect(all.map(({ verdict, knownFaults }) => [verdict, knownFaults?.length])).toEqual([
      ['same', undefined],
      ['same', 4],
      ['same', undefined],
    ])
    expect(same.same).toBe(true)
    expect(same.notes).toEqual([
      '1 result still does not match the outputSchema of its tool: tools/call a: /result/structuredContent/n is a string, not number',
    ])
    expect(summary.same).toBe(false)
  })

  it('at level schema differ where the schema is new that they do not fit', async () => {
    const tools = (type: string): Said => ({
      method: 'tools/list',
      result: { tools: [{ name: 'a', outputSchema: { type: 'object', properties: { n: { type } } } }] },
    })
    const said = call('a', {}, 'x', { structuredContent: { n: '1' } })
    const level: CompareSettings = { level: 'schema', rules: [] }
    const { exchanges } = await compared([tools('string'), said], [tools('number'), said], level)
    expect(exchanges[1]).toMatchObject({
      verdict: 'changed',
      schemaFaults: ['/result/structuredContent/n is a string, not number'],
    })
  })

  it('take rules at the places that they name, also in JSON in a text in JSON in a text', async () => {
    const handedOn = (q: number): Said =>
      call('a', {}, { content: [{ type: 'text', text: JSON.stringify({ q, n: 1 }) }] })
    const [before, after] = [[handedOn(1)], [handedOn(2)]]
    const place = 'result.content[0].text.content[0].text.q'
    expect(await differences(before, after)).toEqual([`changed | tools/call a | ~ ${place} 1 → 2`])
    expect(await differences(before, after, { rules: [ignoreRule(`$.${place}`)] })).toEqual([])
    expect(await differences(before, after, { rules: [matchRule(`$.${place}`, 'number')] })).toEqual([])
  })

  it('tell p50 and p95 of each tool', async () => {
    const times = (ms: number[]): Said[] => ms.map((each) => ({ ...call('a', {}, 'x'), ms: each }))
    const { summary } = await compared(times([1, 2, 3, 40]), times([5]))
    expect(summary.latency).toEqual([
      {
        method: 'tools/call',
        name: 'a',
        direction: 'client_to_server',
        before: { answers: 4, p50Us: 2000, p95Us: 40_000 },
        after: { answers: 1, p50Us: 5000, p95Us: 5000 },
      },
    ])
  })

  it('have no latency where a recording has no times', async () => {
    const before = recordingOf(tapeOf([call('a', {}, 'x'), call('a', {}, 'y')]).replaceAll(/"us":\d+,/g, ''))
    const after = recordingOf(tapeOf([call('a', {}, 'x'), call('a', {}, 'y')]))
    const comparison = new RecordingComparison(before, after, plainSettings)
    for await (const { before: side } of comparison.exchanges) expect(side).not.toHaveProperty('latencyUs')
    const [latency] = comparison.summary().latency
    expect(latency).not.toHaveProperty('before')
    expect(latency).toHaveProperty('after')
  })
})

describe('the offers of a server', () => {
  const tools = (...list: object[]): Said => ({ method: 'tools/list', result: { tools: list } })
  const schema = (properties: object, required: string[] = []) => ({ type: 'object', properties, required })

  it('is reported apart from responses, as breaking, to review or compatible', async () => {
    const before = [
      tools(
        { name: 'a', description: 'one' },
        { name: 'b', inputSchema: schema({ city: { type: 'string' } }) },
        { name: 'c', inputSchema: schema({ n: { type: 'number' } }, ['n']) },
        { name: 'd' },
      ),
    ]
    const after = [
      tools(
        { name: 'a', description: 'two' },
        { name: 'b', inputSchema: schema({ city: { type: 'string' }, day: { type: 'string' } }, ['city']) },
        { name: 'c', inputSchema: schema({ n: { type: ['number', 'string'] } }) },
        { name: 'e' },
      ),
    ]
    expect(await differences(before, after)).toEqual([])
    expect(await offers(before, after)).toEqual([
      'review | tool | a | changed | description changed',
      'breaking | tool | b | changed | inputSchema: "day" added | inputSchema: "city" required now',
      'compatible | tool | c | changed | inputSchema/n: type number → ["number","string"] | inputSchema: "n" optional now',
      'breaking | tool | d | removed',
      'compatible | tool | e | added',
    ])
  })

  it('may be nested as deep as an attacker likes', async () => {
    const deep = (inner: string): object =>
      JSON.parse(`{"a":${'['.repeat(1_000)}${inner}${']'.repeat(1_000)}}`)
    const said = (inner: string): Said => tools({ name: 'a', inputSchema: deep(inner) })
    expect(await offers([said('1')], [said('2')])).toEqual([
      'breaking | tool | a | changed | nested too deeply to compare',
    ])
  })

  it('may be listed in other pages', async () => {
    const page = (cursor: string | undefined, names: string[], nextCursor?: string): Said => ({
      method: 'prompts/list',
      ...(cursor !== undefined && { params: { cursor } }),
      result: { prompts: names.map((name) => ({ name })), ...(nextCursor && { nextCursor }) },
    })
    const { exchanges, summary } = await compared(
      [page(undefined, ['a', 'b'], 'x'), page('x', ['c'])],
      [page(undefined, ['a'], 'y'), page('y', ['b', 'c'])],
    )
    expect(summary.offers).toEqual([])
    expect(exchanges.map(({ verdict }) => verdict)).toEqual(['same', 'same'])
  })

  it('lists a new release as compatible, and a lost capability as breaking', async () => {
    const opening = (version: string, capabilities: object): Said => ({
      method: 'initialize',
      params: {},
      result: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 's', version } },
    })
    const noted = await compared([opening('1', { tools: {} })], [opening('2', { tools: {} })])
    expect(noted.summary.same).toBe(true)
    expect(noted.summary.offers).toMatchObject([{ impact: 'note', name: 'serverInfo' }])
    expect(await offers([opening('1', { tools: {}, logging: {} })], [opening('1', { tools: {} })])).toEqual([
      'breaking | server | capabilities | changed | logging removed',
    ])
  })
})

describe('reports', () => {
  it('have the same facts in every form, and hostile text breaks none', async () => {
    const nasty = '</failure>|`x`\u0001::error::%0A\u202e'
    const { exchanges, summary } = await compared(
      [call('a', {}, { v: 1 }), call('ok', {}, 'x')],
      [call('a', {}, { v: nasty }), call('ok', {}, 'x')],
    )
    const collector = collectReport({ before: 'a|b', after: 'c' })
    for (const exchange of exchanges) collector.take(exchange)
    const report = collector.finish(summary)
    const text = (kind: string): string => [...reportKinds[kind]!(report)].join('')
    expect(JSON.parse(text('json'))).toMatchObject({
      same: false,
      counts: { same: 1, changed: 1 },
      exchanges: [
        {
          verdict: 'changed',
          differences: [{ path: '$.result.content[0].text.v', before: 1, after: nasty }],
        },
        {},
      ],
    })
    expect(text('junit')).toContain('tests="2" failures="1"')
    expect(text('junit').match(/<\/failure>/g)).toHaveLength(1)
    expect(text('junit')).not.toContain('\u0001')
    expect(text('markdown')).toContain('**Different**: 1 same, 1 changed')
    expect(text('github').trimEnd().split('\n')).toHaveLength(1)
    for (const kind of ['junit', 'markdown', 'github']) expect(text(kind)).not.toMatch(/[\u0001\u202e]/)
    expect(text('github')).toMatch(/^::error title=changed%3A tools\/call a::~ result/)
  })
})

describe('the requests of a server', () => {
  const ask = (message: string): Said => ({
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object' } },
    result: { action: 'accept' },
    server: true,
  })
  const settings = (path: string, matcher?: string): CompareSettings => ({
    level: 'semantic',
    rules: [matcher === undefined ? ignoreRule(path) : matchRule(path, matcher)],
  })

  it('have changed where their content differs, and rules say what may differ', async () => {
    const [before, after] = [[ask('name? 10:00:01')], [ask('name? 10:00:09')]]
    const { exchanges } = await compared(before, after)
    expect(exchanges).toMatchObject([
      { verdict: 'changed', differences: [{ place: ['params', 'message'], before: '"name? 10:00:01"' }] },
    ])
    for (const rules of [
      settings('$.params.message'),
      settings('$.params.message', 'timestamp'),
      settings('$.params.message', '/name\\? .*/'),
    ])
      expect((await compared(before, after, rules)).summary.same).toBe(true)
    expect((await compared(before, after, settings('$.params.title'))).summary.same).toBe(false)
  })

  it('are missing or new where only one side sends them', async () => {
    const { exchanges } = await compared([ask('a'), ask('b')], [ask('b')])
    expect(exchanges.map(({ verdict }) => verdict)).toEqual(['missing', 'same'])
  })

  it('do not count if they are pings: their number is a matter of time', async () => {
    const ping: Said = { method: 'ping', result: {}, server: true }
    const said = call('a', {}, 'x')
    const { exchanges, summary } = await compared([ping, said, ping, ping], [said, ping])
    expect(exchanges.map(({ verdict }) => verdict)).toEqual(['same', 'same', 'same', 'same'])
    expect(summary.same).toBe(true)
    expect((await compared([said], [ping, said, { method: 'ping', result: {} }])).summary.same).toBe(true)
  })
})
