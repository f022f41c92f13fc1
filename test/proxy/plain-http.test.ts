import * as fc from 'fast-check'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { MetaRecord } from '../../src/model/index.js'
import { channels } from '../../src/proxy/channel.js'
import type { ChunkBatch } from '../../src/proxy/chunk-batch.js'
import { HttpBatchFiller } from '../../src/proxy/http-batch.js'
import { createHttpBuilder } from '../../src/proxy/http-builder.js'
import { RecorderCore, type RecorderInit } from '../../src/proxy/recorder-core.js'
import { RegionPool } from '../../src/proxy/region-pool.js'
import { Redactor } from '../../src/redaction/index.js'
import { createConversations, type HttpEvent } from '../../src/transports/index.js'
import { runs } from '../long.js'
import { message, numberedIds } from './messages.js'

/** A POST and its response, in parts. */
interface Posted {
  readonly connection: number
  readonly path: string
  readonly headers: readonly string[]
  readonly request: string
  readonly response: readonly string[]
  readonly isStream: boolean
}

const startMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const event = fc
  .tuple(
    fc.constantFrom(
      'event: message\ndata: ',
      'event: message\r\ndata: ',
      'data: ',
      'id: 7\ndata: ',
      ': ',
      'data:',
    ),
    message,
    fc.constantFrom('\n\n', '\n\n', '\r\n\r\n', '\n', '\r\r'),
  )
  .map((parts) => parts.join(''))
const posted: fc.Arbitrary<Posted> = fc
  .record({
    connection: fc.nat({ max: 2 }),
    path: fc.constantFrom('/mcp', '/mcp', '/mcp?token=abcdef', '/s/0123456789abcdef0123', '/\u00e9'),
    headers: fc.constantFrom(
      [],
      ['Mcp-Session-Id', 'b7c9a1f2e8d4'],
      ['Authorization', 'Bearer abcdefghijklmnop0123456789'],
    ),
    request: fc.oneof(message, message, fc.constantFrom('', 'no JSON', '[]')),
    response: fc.oneof(
      message.map((text) => [text]),
      fc.array(event, { maxLength: 3 }),
      fc.array(fc.string({ maxLength: 9 }), { maxLength: 2 }),
    ),
    isStream: fc.boolean(),
  })
  .map((one) => ({ ...one, headers: ['Content-Type', 'application/json', ...one.headers] }))

function eventsOf(
  exchange: number,
  { connection, path, headers, request, response, isStream }: Posted,
): HttpEvent[] {
  const at = { exchange, wallMs: startMs + exchange, atMs: 0 }
  const type = ['Content-Type', isStream ? 'text/event-stream' : 'application/json']
  return [
    { kind: 'request', connection, method: 'POST', path, headers, ...at },
    { kind: 'request-body', bytes: Buffer.from(request), ...at },
    { kind: 'request-end', ...at },
    { kind: 'response', status: 200, headers: type, phases: { waitMs: exchange / 7 }, ...at },
    ...response.map((text) => ({ kind: 'response-body', bytes: Buffer.from(text), ...at }) as const),
    { kind: 'response-end', ...at },
  ]
}

/** A line that a bridge's server wrote to stdout. */
function lineBatch(line: string, us: number): ChunkBatch {
  const bytes = Buffer.from(line)
  const marks = Float64Array.of(channels.indexOf('out'), us, startMs + us / 1000, bytes.length)
  return { regions: { out: bytes }, marks }
}

/** The tape of these exchanges, recorded in batches of two, each followed by a line over stdio. */
async function recorded(
  exchanges: readonly Posted[],
  defaults: boolean,
  allRecords: boolean,
): Promise<{ tape: string; openRequests: unknown; redacted: unknown }> {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-test-'))
  const tape = (name: string): RecorderInit['tape'] => {
    const path = join(folder, name)
    return { path, fd: openSync(path, 'w'), sizeBytes: 0 }
  }
  const meta: MetaRecord = { type: 'meta', startedAt: '', label: '', command: [], mcpTapVersion: '' }
  const core = new RecorderCore(
    {
      tape: tape('tape'),
      // A second tape needs all records.
      ...(allRecords && { full: tape('full') }),
      meta,
      startedNs: process.hrtime.bigint(),
      strict: false,
      redaction: { defaults },
      wire: 'http',
    },
    new Redactor({ defaults, tag: () => 'tag' }),
  )
  const pool = new RegionPool()
  let filler = new HttpBatchFiller(pool)
  for (const [exchange, one] of exchanges.entries()) {
    for (const [i, event] of eventsOf(exchange, one).entries()) filler.add(event, 1000 * exchange + i + 0.4)
    if (exchange % 2 === 0) continue
    await core.handle({ kind: 'http', batch: filler.take() })
    filler = new HttpBatchFiller(pool)
    await core.handle({ kind: 'chunks', batch: lineBatch(`${one.request}\n`, 1000 * exchange + 9) })
  }
  await core.handle({ kind: 'http', batch: filler.take() })
  const openRequests = core.openRequests()
  const { redacted } = core.takeNews()
  await core.handle({ kind: 'close', end: { exitCode: 0 } })
  const lines = readFileSync(join(folder, 'tape'), 'utf8').split('\n').slice(0, -2)
  rmSync(folder, { recursive: true })
  return { tape: numberedIds(lines.join('\n')), openRequests, redacted }
}

it('gives the same lines for plain messages of HTTP and of a bridge by the short way and by the long way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(posted, { maxLength: 8 }), fc.boolean(), async (exchanges, defaults) => {
      expect(await recorded(exchanges, defaults, false)).toEqual(await recorded(exchanges, defaults, true))
    }),
    { numRuns: runs(300) },
  )
})

it('takes the short way with usual messages in bodies and events', () => {
  const request = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}'
  const result = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
  const usual = { connection: 0, path: '/mcp', headers: ['Mcp-Session-Id', 'b7c9a1f2e8d4'], request }
  let lines = 0
  const builder = createHttpBuilder(
    new Redactor({ defaults: true, tag: () => 'tag' }),
    createConversations(undefined),
    { next: 0 },
    false,
    () => (lines += 1),
  )
  const answers = [result, `data: ${result}\n\n`, `event: message\r\ndata: ${result}\r\n\r\n`]
  for (const [exchange, answer] of answers.entries())
    for (const event of eventsOf(exchange, { ...usual, response: [answer], isStream: exchange > 0 }))
      void builder.event({ ...event, us: 1 }, (record) => expect(record.type).not.toBe('message'))
  expect(lines).toBe(6)
})
