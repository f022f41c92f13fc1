import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeMessageTail, mostPlaceBytes, PlaceEncoder } from '../../src/formats/index.js'
import type { HttpContext, MessageRecord, SseContext } from '../../src/model/index.js'
import { runs } from '../long.js'

const text = fc.string({ unit: 'binary', maxLength: 40 })
const ms = fc.oneof(fc.double({ min: 0, max: 1e4, noNaN: true }), fc.double({ noNaN: true }), fc.integer())
const phases = fc.record(
  { waitMs: ms, dnsMs: ms, connectMs: ms, tlsMs: ms },
  { requiredKeys: ['waitMs'], noNullPrototype: true },
)
const http: fc.Arbitrary<HttpContext> = fc.record(
  {
    exchange: fc.nat(),
    method: text,
    path: text,
    status: fc.integer({ min: 100, max: 599 }),
    headers: fc.array(fc.tuple(text, text), { maxLength: 4 }),
    phases: fc.oneof(fc.record({ waitMs: ms }), phases),
  },
  { requiredKeys: ['exchange'], noNullPrototype: true },
)
const sse: fc.Arbitrary<SseContext> = fc.record(
  { event: text, id: text, retry: fc.nat() },
  { requiredKeys: [], noNullPrototype: true },
)

it('writes the place of a message like the rest of its line, also after places that differ in one member', () => {
  const encoder = new PlaceEncoder()
  const target = Buffer.alloc(mostPlaceBytes)
  const parts = [{ envelope: { kind: 'invalid' }, start: 0, end: 0 }] as const
  const base = {
    type: 'message',
    t: '',
    direction: 'client_to_server',
    raw: '',
    batch: false,
    parts,
  } as const
  const places = fc.record({ conversation: text, http, sse: fc.option(sse, { nil: undefined }) })
  fc.assert(
    fc.property(places, http, (place, other) => {
      const variants: HttpContext[] = [place.http, { ...place.http, exchange: other.exchange }]
      if (other.path !== undefined) variants.push({ ...place.http, path: other.path })
      if (other.status !== undefined) variants.push({ ...place.http, status: other.status })
      if (other.method !== undefined) variants.push({ ...place.http, method: other.method })
      for (const context of variants) {
        const { sse, conversation } = place
        const end = encoder.write({ conversation, http: context, sse }, target, 0)
        if (end < 0) continue
        const record: MessageRecord = { ...base, conversation, http: context, ...(sse && { sse }) }
        expect(target.toString('utf8', 0, end)).toBe(encodeMessageTail(record))
      }
    }),
    { numRuns: runs(300) },
  )
})

it('writes the places of usual messages, and refuses long ones', () => {
  const encoder = new PlaceEncoder()
  const target = Buffer.alloc(mostPlaceBytes)
  const headers = [['Content-Type', 'application/json']] as const
  const http = { exchange: 7, status: 200, headers, phases: { waitMs: 1.25 } }
  const end = encoder.write({ conversation: 'a', http, sse: { event: 'message' } }, target, 0)
  expect(target.toString('utf8', 0, end)).toBe(
    ',"conv":"a","http":{"exchange":7,"status":200,"headers":[["Content-Type","application/json"]],' +
      '"phases":{"waitMs":1.25}},"sse":{"event":"message"}}\n',
  )
  const long = 'x'.repeat(5_000)
  expect(encoder.write({ conversation: long, http, sse: undefined }, target, 0)).toBe(-1)
  expect(
    encoder.write({ conversation: 'a', http: { exchange: 1, path: long }, sse: undefined }, target, 0),
  ).toBe(-1)
  expect(encoder.write({ conversation: 'a', http, sse: { id: long } }, target, 0)).toBe(-1)
})
