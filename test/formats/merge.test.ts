import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foreignMessage, foreignMeta } from '../../src/formats/foreign/records.js'
import { mergeRecordings } from '../../src/formats/index.js'
import type { TapeRecord } from '../../src/model/index.js'
import { sessions } from './codec-sessions.js'
import { adopted, read, spoken, throughTape, unsized, write } from './codec-stage.js'
import type { Loose } from './import-stage.js'
import { runs } from '../long.js'

async function merge(all: readonly (readonly TapeRecord[])[]): Promise<TapeRecord[]> {
  const recordings = all.map((records) => ({
    async *records() {
      yield* records
    },
  }))
  const merged: TapeRecord[] = []
  for await (const record of (await mergeRecordings(recordings)).records()) merged.push(record)
  return merged
}

/** The same records, moved to a later time. */
function later(records: readonly TapeRecord[], ms: number): TapeRecord[] {
  const move = (t: string): string => new Date(Date.parse(t) + ms).toISOString()
  return records.map((record) => {
    if (record.type === 'meta') return { ...record, startedAt: move(record.startedAt) }
    return 't' in record && record.t !== undefined ? { ...record, t: move(record.t) } : record
  })
}

describe('recordings merged by time', () => {
  it('keep every message, in order, and each answer with its own request though ids are equal', async () => {
    await fc.assert(
      fc.asyncProperty(
        sessions(),
        sessions({ http: true }),
        fc.integer({ min: -20, max: 20 }),
        async (a, b, ms) => {
          const parts = [await adopted(a), await adopted(later(b, ms))]
          const merged = await merge(parts)
          expect(throughTape(merged)).toEqual(merged)
          const messages = merged.filter((record) => record.type === 'message')
          const times = messages.map(({ us }) => us!)
          expect(times).toEqual(times.toSorted((x, y) => x - y))
          for (const [i, part] of parts.entries()) {
            const own = messages.filter(
              ({ conversation }) =>
                conversation ===
                (i === 0 ? 'x' : ['x (2)', 'example.com'].find((name) => name === conversation)),
            )
            expect(await spoken(own)).toEqual(await spoken(part.filter(({ type }) => type === 'message')))
          }
          expect(merged.at(-1)).toMatchObject({ type: 'end', exitCode: null })
        },
      ),
      { numRuns: runs(200) },
    )
  })

  it('stay two conversations when both are the same file', async () => {
    const [records] = fc.sample(sessions(), { numRuns: 1, seed: 3 })
    const one = await adopted(records!)
    const merged = await merge([one, one])
    const messages = merged.filter((record) => record.type === 'message')
    const ids = messages.flatMap(({ parts }) => parts.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(messages.map(({ conversation }) => conversation)).size).toBe(2)
  })

  it('say what they were, and have no end when one of them has none', async () => {
    const t = '2026-08-01T10:00:00.000Z'
    const tape = (label: string, ...more: TapeRecord[]): TapeRecord[] => [
      { type: 'meta', startedAt: t, label, command: ['node', label] },
      ...more,
    ]
    const merged = await merge([tape('a', { type: 'end', t, exitCode: 0, durationMs: 1 }), tape('b')])
    expect(merged).toHaveLength(1)
    expect(merged[0]).toMatchObject({ type: 'meta', label: 'a + b' })
    expect(JSON.stringify(merged[0])).toContain('node')
  })

  it('keep how each message came, also when they are merged again', async () => {
    const ask = foreignMessage('{"jsonrpc":"2.0","id":1,"method":"ping"}', {
      t: '2026-08-01T10:00:01.000Z',
      direction: 'client_to_server',
    })
    const http = { exchange: 1, method: 'POST', path: '/mcp?a=1' }
    const local = await adopted([foreignMeta({ startedAt: ask.t, transport: 'stdio', label: 'local' }), ask])
    const url = 'https://example.com:8443/mcp'
    const web = await adopted([
      foreignMeta({ startedAt: ask.t, transport: 'streamable-http', url, label: 'web' }),
      { ...ask, http },
    ])
    for (const merged of [await merge([local, web]), await merge([local, await merge([local, web])])]) {
      const spans = JSON.parse((await write('otlp-json', merged)).text).resourceSpans[0].scopeSpans[0].spans
      const ways = spans.map(({ attributes }: Loose) => [
        ...new Set(
          attributes
            .filter(({ key }: Loose) => /^(?:server|network\.transport)/.test(key))
            .map(({ value }: Loose) => Object.values(value)[0]),
        ),
      ])
      expect(new Set(ways.map(String))).toEqual(new Set(['pipe', 'tcp,example.com,8443']))
      const archive = await write('har', merged)
      const urls = new Set(JSON.parse(archive.text).log.entries.map(({ request }: Loose) => request.url))
      expect(
        [...urls].filter((one) => String(one).startsWith('https://example.com:8443/mcp?a=1')),
      ).toHaveLength(1)
      const told = archive.said.filter((line) => line.includes('made up'))
      expect(told).toEqual([expect.stringMatching(/^URLs are made up, since stdio has none: [12]$/)])
    }
  })

  it('keep their exchanges apart, however many there are', async () => {
    const ask = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const t = '2026-08-01T10:00:00.000Z'
    const part = (exchange: number): TapeRecord[] => [
      foreignMeta({ startedAt: t, transport: 'streamable-http', label: 'web' }),
      { ...foreignMessage(ask, { t, direction: 'client_to_server' }), http: { exchange } },
    ]
    const merged = await merge(Array.from({ length: 1_100 }, (_, n) => part(n % 3)))
    const exchanges = merged.flatMap((record) => (record.type === 'message' ? [record.http?.exchange] : []))
    expect(new Set(exchanges).size).toBe(1_100)
    expect(merged[0]).toMatchObject({ label: 'web + web (2) + web (3) + web (4) + 1096 more' })
  })

  it('have their times beside one that says none, of which nothing is made up', async () => {
    const [timed] = fc.sample(sessions(), { numRuns: 1, seed: 3 })
    const ask = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const { records } = await read('jsonrpc', `${ask}\n{"jsonrpc":"2.0","id":1,"result":{}}\n`)
    const untimed = await adopted(records)
    const merged = await merge([untimed, await adopted(timed!)])
    expect(unsized(throughTape(merged))).toEqual(unsized(merged))
    expect(merged[0]).toMatchObject({ startedAt: '2026-08-01T10:00:00.000Z' })
    const messages = merged.filter((record) => record.type === 'message')
    const own = messages.filter(({ conversation }) => conversation === 'jsonrpc')
    expect(own.map(({ untimed, us, t }) => `${untimed} ${us} ${t}`)).toEqual(
      Array(2).fill('true undefined 2026-08-01T10:00:00.000Z'),
    )
    expect(messages.filter(({ us, untimed }) => us === undefined || untimed)).toHaveLength(2)

    const none = (await merge([untimed, untimed])).filter((record) => record.type === 'message')
    expect(none.map(({ us, t }) => `${us} ${t}`)).toEqual(Array(4).fill('undefined 1970-01-01T00:00:00.000Z'))
  })
})

it('more than a thousand recordings keep their exchanges apart', async () => {
  const one = (exchange: number): TapeRecord[] => [
    foreignMeta({ startedAt: '2026-08-01T10:00:00.000Z', transport: 'streamable-http' }),
    foreignMessage('{"jsonrpc":"2.0","method":"n"}', {
      t: '2026-08-01T10:00:00.000Z',
      direction: 'client_to_server',
      http: { exchange },
    }),
  ]
  const merged = await merge(Array.from({ length: 1_050 }, (_, i) => one(i % 2)))
  const exchanges = merged.flatMap((record) => (record.type === 'message' ? [record.http?.exchange] : []))
  expect(new Set(exchanges).size).toBe(1_050)
})

it('a moment that no clock has shown is not believed', async () => {
  const t = '2026-08-01T10:00:00.000Z'
  const ping = '{"jsonrpc":"2.0","method":"ping"}'
  const meta = foreignMeta({ startedAt: t, transport: 'stdio', label: 'x' })
  const said = (us: number): TapeRecord => ({
    ...foreignMessage(ping, { t, direction: 'client_to_server' }),
    us,
  })
  for (const us of [1e300, -1e300, Infinity, 1e17]) {
    const merged = await merge([
      [meta, said(us)],
      [meta, said(5)],
    ])
    expect(merged.flatMap((record) => (record.type === 'message' ? [record.us] : []))).toEqual([0, 5])
  }
})
