import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventsOf, HttpBatchFiller, regionsOf } from '../../src/proxy/http-batch.js'
import { RegionPool } from '../../src/proxy/region-pool.js'
import type { HttpEvent } from '../../src/transports/index.js'

/** Valid values of headers: no line breaks, bytes as Latin-1. */
const word = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
})
const headers = fc.array(fc.tuple(word, word), { maxLength: 3 }).map((pairs) => pairs.flat())
const ms = fc.double({ min: 0, max: 1e9, noNaN: true })
const bytes = fc.uint8Array({ maxLength: 2000 })
const happening = fc.oneof(
  fc.record({
    kind: fc.constant('request' as const),
    connection: fc.nat(),
    method: word,
    path: word,
    headers,
  }),
  fc.record({
    kind: fc.constant('request' as const),
    connection: fc.nat(),
    method: word,
    path: word,
    origin: fc.webUrl(),
    headers,
  }),
  fc.record({ kind: fc.constantFrom('request-body' as const, 'response-body' as const), bytes }),
  fc.record({ kind: fc.constantFrom('request-end' as const, 'response-end' as const) }),
  fc.record(
    {
      kind: fc.constant('response' as const),
      status: fc.integer({ min: 100, max: 999 }),
      headers,
      phases: fc.oneof(
        fc.record({ waitMs: ms }),
        fc.record(
          { dnsMs: ms, connectMs: ms, tlsMs: ms, waitMs: ms },
          { requiredKeys: ['connectMs', 'waitMs'] },
        ),
      ),
    },
    { requiredKeys: ['kind', 'status', 'headers'] },
  ),
  fc.record({
    kind: fc.constant('failed' as const),
    by: fc.constantFrom('client' as const, 'upstream' as const, 'wiretape' as const),
    why: fc.string({ unit: 'grapheme' }),
  }),
  fc.record({
    kind: fc.constant('failed' as const),
    by: fc.constant('upstream' as const),
    why: fc.string({ unit: 'grapheme' }),
    status: fc.integer({ min: 100, max: 999 }),
  }),
)
const events = fc.array(fc.tuple(happening, fc.nat(), fc.double({ min: 0, max: 1e12, noNaN: true })), {
  maxLength: 40,
})

describe('a batch of HTTP events', () => {
  it('returns the stored messages, in memory of their own', () => {
    const pool = new RegionPool()
    const filler = new HttpBatchFiller(pool)
    fc.assert(
      fc.property(events, (given) => {
        const expected = given.map(([what, exchange, us]) => ({ ...what, exchange, us, wallMs: us / 2 }))
        const got: object[] = []
        const hand = (): void => {
          const batch = filler.take()
          const unpacked = [...eventsOf(batch)]
          // The recording thread reuses the memory of a finished batch.
          batch.region.fill(0xee)
          pool.giveBack(regionsOf(batch))
          got.push(...unpacked)
        }
        for (const [what, exchange, us] of given) {
          const event = { ...what, exchange, atMs: 0, wallMs: us / 2 } as HttpEvent
          if (!filler.fits(event)) hand()
          filler.add(event, us)
        }
        if (!filler.isEmpty) hand()
        expect(got.map(comparable)).toEqual(expected.map(comparable))
      }),
    )
  })

  it('has room for a body of any size, and reports when it is full', () => {
    const filler = new HttpBatchFiller(new RegionPool())
    const body = (sizeBytes: number): HttpEvent => ({
      kind: 'response-body',
      bytes: new Uint8Array(sizeBytes).fill(7),
      exchange: 1,
      atMs: 0,
      wallMs: 0,
    })
    expect(filler.fits(body(5_000_000))).toBe(true)
    filler.add(body(5_000_000), 0)
    expect(filler.fits(body(1))).toBe(false)
    const [only] = eventsOf(filler.take())
    expect(only).toMatchObject({ bytes: { length: 5_000_000 } })
    expect(filler.fits(body(1))).toBe(true)
  })
})

function comparable(event: object): object {
  return 'bytes' in event ? { ...event, bytes: [...(event.bytes as Uint8Array)] } : event
}
