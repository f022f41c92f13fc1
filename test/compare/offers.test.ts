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

/** What changed between two lists of one. */
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
    ['compatible', 'arguments/a: title changed'],
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

/** A page of a list of tools, and the cursor that it was asked for with. */
function listed(names: string, { cursor, next }: { cursor?: string; next?: string } = {}): Said {
  const tools = names.split('').map((name) => ({ name, inputSchema: {} }))
  return {
    method: 'tools/list',
    ...(cursor !== undefined && { params: { cursor } }),
    result: { tools, ...(next !== undefined && { nextCursor: next }) },
  }
}

/** What differs, in words. */
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
      { name: 'c', impact: 'compatible', details: ['not in what was asked for of the list, which goes on'] },
    ])
  })
})
