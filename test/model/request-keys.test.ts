import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { RequestKeys, requestKey } from '../../src/model/request-key.js'
import { runs } from '../long.js'

const id = fc.oneof(
  fc.nat(20).map(String),
  fc.maxSafeNat().map(String),
  fc.constantFrom('2147483647', '2147483648', '999999999999999', '1000000000000000', '-1', '01', '1.5', '"a'),
)
const request = fc.tuple(
  fc.constantFrom('', 'a', 'b', 'x'.repeat(300)),
  fc.constantFrom('client_to_server' as const, 'server_to_client' as const),
  id,
)

it('makes equal keys for equal requests only, and gives back their text', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
      const keys = new RequestKeys()
      const seen = new Map<string | number, string>()
      for (const [conversation, direction, id] of requests) {
        const text = requestKey(conversation, direction, id)
        const key = keys.of(conversation, direction, id)
        expect(keys.textOf(key)).toBe(text)
        expect(seen.get(key) ?? text).toBe(text)
        seen.set(key, text)
      }
    }),
    { numRuns: runs(200) },
  )
})

it('has keys for more conversations than it numbers', () => {
  const keys = new RequestKeys()
  const all = Array.from({ length: 5_000 }, (_, i) => keys.of(`c${i}`, 'client_to_server', 1))
  expect(new Set(all).size).toBe(5_000)
  expect(all.slice(0, 3).every((key) => typeof key === 'number')).toBe(true)
  expect(all.at(-1)).toBe(requestKey('c4999', 'client_to_server', '1'))
  expect(keys.of('c0', 'client_to_server', '1')).toBe(all[0])
})
