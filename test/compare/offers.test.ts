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
