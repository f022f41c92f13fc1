import { describe, expect, it } from 'vitest'
import { compareOffers, createOffers, plainSettings } from '../../src/compare/index.js'
import { compared, type Said } from './stage.js'

const answer = (result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result })

it('takes an answer that is no list for no statement about what is offered', () => {
  const [before, after] = [createOffers(), createOffers()]
  for (const offers of [before, after])
    offers.take('tools/list', answer({ tools: [{ name: 'one' }, { name: 'two' }] }), false)
  after.take('tools/list', answer({ tools: { one: {} } }), false)
  after.take('tools/list', answer({}), false)
  expect(compareOffers(before, after)).toEqual([])
  after.take('tools/list', answer({ tools: [{ name: 'one' }] }), false)
  expect(compareOffers(before, after)).toMatchObject([{ name: 'two', change: 'removed' }])
})

/** Changes between two lists of one element each. */
function changed(method: string, member: string, before: object, after: object): unknown[] {
  const [old, now] = [createOffers(), createOffers()]
  old.take(method, answer({ [member]: [{ name: 'one', ...before }] }), false)
  now.take(method, answer({ [member]: [{ name: 'one', ...after }] }), false)
  return compareOffers(old, now).map(({ impact, details }) => [impact, ...details])
}

it.each<[string, string, object, object]>([
  [
    'tools/list',
    'tools',
    { inputSchema: { required: ['a', 'b'] } },
    { inputSchema: { required: ['b', 'a'] } },
  ],
  [
    'tools/list',
    'tools',
    { outputSchema: { properties: { a: { type: ['string', 'null'], enum: ['x', null] } } } },
    { outputSchema: { properties: { a: { type: ['null', 'string'], enum: [null, 'x'] } } } },
  ],
  [
    'prompts/list',
    'prompts',
    { arguments: [{ name: 'a' }, { name: 'b', required: true }] },
    { arguments: [{ name: 'b', required: true }, { name: 'a' }] },
  ],
])('takes the order of sets for no change: %s', (method, member, before, after) => {
  expect(changed(method, member, before, after)).toEqual([])
})

it.each<[string, string, object, object, string[]]>([
  [
    'tools/list',
    'tools',
    { inputSchema: { required: ['a', 'b'] } },
    { inputSchema: { required: ['b'] } },
    ['compatible', 'inputSchema: "a" optional now'],
  ],
  [
    'prompts/list',
    'prompts',
    { arguments: [{ name: 'a', title: 'A' }] },
    { arguments: [{ name: 'a', title: 'B' }] },
    ['review', 'arguments/a: title changed'],
  ],
  [
    'prompts/list',
    'prompts',
    { arguments: [{ name: 'a', vendor: 1 }] },
    { arguments: [{ name: 'a', vendor: 2 }] },
    ['compatible'],
  ],
])('tells what is more than order: %s', (method, member, before, after, change) => {
  expect(changed(method, member, before, after)).toEqual([change])
})

/** A page of a list of tools, and the cursor of its request. */
function listed(names: string, { cursor, next }: { cursor?: string; next?: string } = {}): Said {
  const tools = names.split('').map((name) => ({ name, inputSchema: {} }))
  return {
    method: 'tools/list',
    ...(cursor !== undefined && { params: { cursor } }),
    result: { tools, ...(next !== undefined && { nextCursor: next }) },
  }
}

/** The differences, in words. */
async function between(before: Said[], after: Said[], settings = plainSettings): Promise<string[]> {
  const { exchanges, summary } = await compared(before, after, settings)
  const verdicts = exchanges.map(({ verdict }) => verdict).filter((verdict) => verdict !== 'same')
  const offers = summary.offers.map(({ impact, name, change }) => `${impact}: ${name} ${change}`)
  expect(summary.same).toBe(verdicts.length === 0 && offers.length === 0)
  return [...verdicts, ...offers]
}

describe('lists of one session', () => {
  it.each([0, 1, 2])('are each compared with their own: list %i', async (lost) => {
    const before = ['ab', 'abc', 'ab']
    const after = before.map((names, i) => (i === lost ? names.replace('b', '') : names))
    const changes = await between(
      before.map((names) => listed(names)),
      after.map((names) => listed(names)),
    )
    expect(changes).toEqual(['breaking: b removed'])
  })

  it('tell a change once', async () => {
    const [before, after] = ['ab', 'a'].map((names) => Array.from({ length: 4 }, () => listed(names)))
    expect(await between(before!, after!)).toEqual(['breaking: b removed'])
  })

  it('tell what the last one lost, of which the other session has more', async () => {
    expect(await between([listed('ab')], [listed('ab'), listed('a')])).toEqual(['new', 'breaking: b removed'])
  })

  it('may be cut into pages in any way', async () => {
    const whole = [listed('abcd')]
    const two = [listed('ab', { next: 'x' }), listed('cd', { cursor: 'x' })]
    const three = [
      listed('a', { next: 'p' }),
      listed('b', { cursor: 'p', next: 'q' }),
      listed('cd', { cursor: 'q' }),
    ]
    const ways = [whole, two, three]
    for (const before of ways) for (const after of ways) expect(await between(before, after)).toEqual([])
    expect(await between(three, [listed('ab', { next: 'x' }), listed('d', { cursor: 'x' })])).toEqual([
      'breaking: c removed',
    ])
    expect(await between([...two, ...whole], [...whole, ...three])).toEqual([])
    expect(await between(two, whole, { ...plainSettings, level: 'exact' })).toContain('missing')
  })

  it('say of what was not asked for that it may be there', async () => {
    const before = [listed('ab', { next: 'x' }), listed('c', { cursor: 'x' })]
    const { summary } = await compared(before, [
      listed('a', { next: 'y' }),
      listed('b', { cursor: 'y', next: 'z' }),
    ])
    expect(summary.offers).toMatchObject([
      { name: 'c', impact: 'compatible', details: ['not on the requested pages; the list has more pages'] },
    ])
  })
})

/** The `initialize` exchange of a conversation. */
const opened = (result: object, redAnswer?: readonly string[]): Said => ({
  method: 'initialize',
  params: {},
  result: { protocolVersion: '2025-11-25', capabilities: {}, ...result },
  ...(redAnswer && { redAnswer }),
})

describe('openings of one session', () => {
  it.each([0, 1, 2])('are each compared with their own: opening %i', async (lost) => {
    const before = [{ prompts: {} }, { prompts: {}, tools: {} }, { prompts: {} }]
    const after = before.map((capabilities, i) =>
      i === lost ? { ...capabilities, prompts: undefined } : capabilities,
    )
    const openings = (all: object[]): Said[] => all.map((capabilities) => opened({ capabilities }))
    expect(await between(openings(before), openings(after))).toEqual(['breaking: capabilities changed'])
  })

  it('tell a change once', async () => {
    const [before, after] = ['Be kind', 'Be quick'].map((instructions) =>
      Array.from({ length: 3 }, () => opened({ instructions })),
    )
    expect(await between(before!, after!)).toEqual(['review: instructions changed'])
  })

  it('belong to clients that came in another order', async () => {
    const client = (protocolVersion: string, version = '1', capabilities: object = { tools: {} }): Said =>
      opened({ protocolVersion, capabilities, serverInfo: { name: 's', version } })
    const [old, modern] = ['2025-06-18', '2025-11-25'] as const
    expect(await between([client(old), client(modern)], [client(modern), client(old)])).toEqual([])
    const { summary } = await compared(
      [client(old), client(modern), client(old)],
      [client(modern, '2', {}), client(old, '2'), client(old, '2')],
    )
    const told = summary.offers.map(({ name, impact, details }) => [name, impact, ...details])
    expect(told.filter(([, impact]) => impact !== 'note')).toEqual([
      ['capabilities', 'breaking', 'tools removed'],
    ])
  })

  it('tell what the last one says otherwise, of which the other session has more', async () => {
    const [full, bare] = [opened({ capabilities: { tools: {} } }), opened({})]
    expect(await between([full], [full, bare])).toEqual(['new', 'breaking: capabilities changed'])
  })
})

describe('redacted values in the offers of a server', () => {
  const hidden = '[REDACTED]'
  const tools = (description: string, type = 'string'): Said => ({
    method: 'tools/list',
    result: {
      tools: [
        { name: 'a', inputSchema: {} },
        { name: 'b', description, inputSchema: { properties: { path: { type, default: description } } } },
      ],
    },
  })
  const places = ['/result/tools/1/description', '/result/tools/1/inputSchema/properties/path/default']

  it('may have been anything, on either side', async () => {
    const redacted = { ...tools(hidden), redAnswer: places }
    expect(await between([redacted], [tools('reads .env')])).toEqual([])
    expect(await between([tools('reads .env')], [redacted])).toEqual([])
    expect(await between([redacted], [redacted])).toEqual([])
    expect(await between([tools('reads .env')], [tools('reads id_rsa')])).toEqual(['review: b changed'])
  })

  it('hides no change beside it', async () => {
    const { summary } = await compared([{ ...tools(hidden), redAnswer: places }], [tools('x', 'number')])
    expect(summary.offers).toMatchObject([
      { name: 'b', impact: 'breaking', details: ['inputSchema/path: type string → number'] },
    ])
  })

  it('may be the name of something that the other side names', async () => {
    const resources = (...uris: string[]): Said => ({
      method: 'resources/list',
      result: { resources: uris.map((uri) => ({ uri, name: 'n' })) },
    })
    const all = resources('file:///a', 'file:///b/.env', 'file:///c/.env')
    const redacted = {
      ...resources('file:///a', hidden, hidden),
      redAnswer: ['/result/resources/1/uri', '/result/resources/2/uri'],
    }
    expect(await between([redacted], [all])).toEqual([])
    expect(await between([all], [redacted])).toEqual([])
    const more = resources('file:///a', 'file:///b/.env', 'file:///c/.env', 'file:///d')
    expect(await between([redacted], [more])).toEqual(['compatible: file:///d added'])
    expect(await between([more], [redacted])).toEqual(['breaking: file:///d removed'])
  })

  it('may be in the opening', async () => {
    const redacted = opened({ instructions: hidden }, ['/result/instructions'])
    const plain = opened({ instructions: 'Keys are in .env' })
    expect(await between([redacted], [plain])).toEqual([])
    expect(await between([plain], [redacted])).toEqual([])
    expect(await between([redacted], [opened({})])).toEqual(['review: instructions removed'])
  })
})
