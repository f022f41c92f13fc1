import { expect, it } from 'vitest'
import { compareOffers, createOffers } from '../../src/compare/index.js'

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
