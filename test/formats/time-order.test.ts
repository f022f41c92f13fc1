import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createTimeOrder, tellMisplaced } from '../../src/formats/foreign/time-order.js'
import type { Timed } from '../../src/formats/foreign/exchange.js'
import { read } from './codec-stage.js'

function timed(ms: number, place: number | undefined, text: string): Timed {
  return { ms, place, record: { type: 'stderr', t: '', text } }
}

const textsOf = (order: ReturnType<typeof createTimeOrder>, ms: number, place?: number): string[] =>
  [...order.until(ms, place)].map((record) => (record.type === 'stderr' ? record.text : ''))

describe('records that wait for their moment', () => {
  it('come by time, then by place, then as they came', () => {
    const moment = fc.record({
      ms: fc.integer({ min: 0, max: 6 }),
      place: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(moment, { maxLength: 60 }), (moments) => {
        const order = createTimeOrder()
        for (const [i, { ms, place }] of moments.entries()) order.add(timed(ms, place, `${i}`), 1)
        const sorted = moments
          .map((one, i) => ({ ms: one.ms, place: one.place ?? -1, i }))
          .toSorted((a, b) => a.ms - b.ms || a.place - b.place || a.i - b.i)
        const before = sorted.filter(({ ms, place }) => ms < 3 || (ms === 3 && place < 2))
        expect(textsOf(order, 3, 2)).toEqual(before.map(({ i }) => `${i}`))
        expect(textsOf(order, Infinity)).toEqual(sorted.slice(before.length).map(({ i }) => `${i}`))
        expect(order.misplaced).toBe(0)
      }),
    )
  })

  it('are given early when there is too much of them, and it is said when that spoils the order', () => {
    const order = createTimeOrder()
    for (let ms = 0; ms < 40; ms += 1) order.add(timed(ms, undefined, `${ms}`), 1024 * 1024)
    expect(textsOf(order, -Infinity)).toEqual(Array.from({ length: 9 }, (_, i) => `${i}`))
    order.add(timed(8, 5, 'in order'), 1)
    order.add(timed(3, undefined, 'late'), 1)
    expect(order.misplaced).toBe(1)
    const said: string[] = []
    tellMisplaced(order, ({ message }) => said.push(message))
    expect(said).toEqual(['1 of the records are not in time order: the sort buffer was full'])
  })
})

describe('a long stream in an archive', () => {
  const startMs = Date.UTC(2026, 7, 1, 10)
  const at = (ms: number): string => new Date(startMs + ms).toISOString()
  const note =
    '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"xxxxxxxxxxxx"}}'
  const entry = (ms: number, more: object): object => ({
    startedDateTime: at(ms),
    time: 1,
    timings: { send: 0, wait: 1, receive: 0 },
    ...more,
  })
  const request = { method: 'POST', url: 'https://example.com/mcp', headers: [] }
  const stream = entry(0, {
    request: { ...request, method: 'GET' },
    response: { status: 200, headers: [], content: { mimeType: 'text/event-stream' } },
    _eventSourceMessages: Array.from({ length: 2_000 }, (_, i) => ({
      time: (startMs + 10 * i) / 1000,
      eventName: '',
      data: note,
    })),
  })
  const calls = Array.from({ length: 200 }, (_, id) =>
    entry(100 * id + 5, {
      request: { ...request, postData: { text: `{"jsonrpc":"2.0","id":${id},"method":"ping"}` } },
      response: {
        status: 200,
        headers: [],
        content: { mimeType: 'application/json', text: `{"jsonrpc":"2.0","id":${id},"result":{}}` },
      },
    }),
  )

  it('stands among the exchanges beside it', async () => {
    const archive = JSON.stringify({ log: { version: '1.2', creator: {}, entries: [stream, ...calls] } })
    const { records, said } = await read('har', archive)
    const times = records.flatMap((record) => (record.type === 'message' ? [record.t] : []))
    expect(times.length).toBe(2_400)
    expect(times).toEqual(times.toSorted())
    expect(said).toEqual([])
  })

  it('of exchanges without any time stands where the archive has it', async () => {
    const untimed = [stream, ...calls].map((one) => ({ ...one, startedDateTime: 'long ago' }))
    const { records } = await read(
      'har',
      JSON.stringify({ log: { version: '1.2', entries: untimed.slice(1) } }),
    )
    const kinds = records.flatMap((record) => (record.type === 'message' ? [record.direction] : []))
    expect(kinds).toEqual(calls.flatMap(() => ['client_to_server', 'server_to_client']))
  })
})
