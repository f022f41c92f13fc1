import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MessageRecord, TapeRecord } from '../../src/model/index.js'
import { parseJson } from './exact-json.js'
import { importTranscript } from './http-transcript-reader.js'
import {
  answered,
  call,
  http,
  imported,
  message,
  result,
  toClient,
  toServer,
  transports,
  write,
} from './http-transcript-stage.js'
import { foreignTape, ownTape } from './session-json-tapes.js'
import { runs } from '../long.js'

describe('a message that importers would refuse the file over', () => {
  const nested = (depth: number): string =>
    `{"jsonrpc":"2.0","method":"a","params":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`

  it.each([
    ['{"jsonrpc":"1.0","id":1,"method":"a"}', '"jsonrpc" is not "2.0"'],
    ['{"jsonrpc":"2.0","id":1,"method":5}', '"method" is not a string'],
    ['{"jsonrpc":"2.0","method":"ping"}', 'the "id" of a request must be a string or number'],
    ['{"jsonrpc":"2.0","id":null,"method":"a"}', 'the "id" of a request must be a string or number'],
    ['{"jsonrpc":"2.0","id":null,"result":1}', 'the "id" of a result must be a string or number'],
    ['{"jsonrpc":"2.0","id":[],"error":{}}', '"id" must be a string, number or null'],
    [
      '{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":""}}',
      'it must have "method", or exactly one of "result" and "error"',
    ],
    ['{"jsonrpc":"2.0","id":1}', 'it must have "method", or exactly one of "result" and "error"'],
    ['{"jsonrpc":"2.0","id":1,"error":"x"}', '"error" must have an integer "code" and a string "message"'],
    [
      '{"jsonrpc":"2.0","id":1,"error":{"code":1.0,"message":""}}',
      '"error" must have an integer "code" and a string "message"',
    ],
    [
      '{"jsonrpc":"2.0","id":1,"error":{"code":18446744073709551616,"message":""}}',
      '"error" must have an integer "code" and a string "message"',
    ],
    ['{"jsonrpc":"2.0","method":"a","params":{"b":1,"\\u0062":2}}', 'it has a repeated member'],
    ['{"jsonrpc":"2.0","method":"a","params":"\\ud800"}', 'it has a lone surrogate'],
    ['{"jsonrpc":"2.0","method":"a","params":[1e400]}', 'it has a number that is too large'],
    [nested(125), 'it is nested too deeply'],
    ['[]', 'it is not a JSON object'],
  ])('%s is left out, and said', async (raw, why) => {
    for (const direction of ['client_to_server', 'server_to_client'] as const) {
      const { events, said } = await imported([
        toServer('{"jsonrpc":"2.0","method":"b"}'),
        message(direction, raw, { seq: 7 }),
      ])
      expect(events).toBe(1)
      expect(said).toEqual([`message 7 is left out: ${why}`])
    }
  })

  it.each([
    '{"jsonrpc":"2.0","error":{"code":-32700,"message":""}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":-9223372036854775808,"message":"","data":{"a":[{},{}]}}}',
    '{"jsonrpc":"2.0","id":1,"result":1,"method":"both"}',
    '{"jsonrpc":"2.0","id":1.5,"result":null,"x":[1e-400,{"a":{"a":1}}]}',
    '{"jsonrpc":"2.0","method":"","params":"\\ud83d\\ude00 \\\\ud800 {[\\""}',
    nested(124),
  ])('is not %s', async (raw) => {
    expect(await imported([toServer(raw)])).toMatchObject({ events: 1, said: [] })
  })

  it('may be one level deeper in a body than in an event', async () => {
    expect((await imported([toClient(nested(124))])).events).toBe(1)
    expect((await imported([toClient(nested(124), { sse: {} })])).events).toBe(0)
    expect((await imported([toClient(nested(123), { sse: {} })])).events).toBe(1)
  })

  it('takes its answer with it', async () => {
    const { events, said } = await imported(
      answered(toServer(`{"jsonrpc":"2.0","id":1,"method":"a","x":1e999}`), result('1')),
    )
    expect(events).toBe(0)
    expect(said).toEqual([
      'message 0 is left out: it has a number that is too large',
      'message 1 is left out: its request is left out',
    ])
  })
})

describe('ids', () => {
  it('of the two sides never meet', async () => {
    const [request, answer] = answered(toServer(call('1')), result('1', '"tool"'))
    const [sampling, sampled] = answered(
      toClient('{"jsonrpc":"2.0","id":"1","method":"sampling/createMessage"}'),
      result('"1"', '"model"'),
    )
    const { calls, orphans, said } = await imported([request, sampling, sampled, answer])
    expect(calls).toMatchObject([{ outcome: '"tool"' }])
    expect(orphans).toEqual([])
    expect(said).toHaveLength(2)
  })

  it('may come again after the answer, but not for a call', async () => {
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    const { said, events } = await imported([
      ...answered(toServer(ping), result('1')),
      ...answered(toServer(call('1')), result('1')),
      ...answered(toServer(ping), result('1')),
      ...answered(toServer(call('1')), result('1')),
    ])
    expect(events).toBe(6)
    expect(said).toEqual([
      'message 6 is left out: an earlier tools/call has the same id',
      'message 7 is left out: its request is left out',
    ])
  })

  it('of another type are no answer', async () => {
    const { calls, said } = await imported([
      toServer(call('1')),
      toClient(result('"1"')),
      toClient(result('1.0')),
      toClient(result('1', '"tool"')),
    ])
    expect(calls).toMatchObject([{ outcome: '"tool"' }])
    expect(said).toEqual([
      'message 1 is left out: readers would match it to another open request with its id',
      'message 2 is left out: readers would match it to another open request with its id',
    ])
  })

  it('of several clients give each answer to its own request', async () => {
    const one = answered(toServer(call('1', 'a')), result('1', '"a"'))
    const two = answered(toServer(call('1', 'b')), result('1', '"b"'))
    const { calls } = await imported([one[0], two[0], two[1], one[1]])
    expect(calls).toMatchObject([{ name: 'a', outcome: '"a"' }])
  })

  it('are matched in recordings of others too', async () => {
    const bare = ({ parts, ...record }: MessageRecord): MessageRecord => ({
      ...record,
      parts: parts.map(({ id: _, correlatedId: __, ...part }) => part),
    })
    const meta = { type: 'meta', startedAt: '2026-08-01T10:00:00.000Z', label: '', command: [] } as const
    const sampling = '{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}'
    const records = [
      toServer(call('1')),
      toClient(sampling),
      toServer(result('1', '"model"')),
      toClient(result('1', '"tool"')),
    ].map(bare)
    for (const all of [records, [meta, ...records]]) {
      const { calls, orphans } = await imported(all)
      expect([calls, orphans]).toMatchObject([[{ outcome: '"tool"' }], []])
    }
  })

  it('of a request that HTTP turned away belong to the one that was sent again', async () => {
    const at = (exchange: number): Partial<MessageRecord> => ({ http: { exchange } })
    const again = answered(toServer(call('5', 'second'), at(1)), result('5'))
    const away: TapeRecord[] = [
      http({ status: 401 }),
      http({ status: 403 }),
      http({ why: 'connection refused' }),
      toClient('{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":""}}', {
        http: { exchange: 0, status: 401 },
      }),
    ]
    for (const record of away) {
      const { calls } = await imported([toServer(call('5', 'first'), at(0)), record, ...again])
      expect(calls).toMatchObject([{ name: 'second', outcome: '{}' }])
    }
    const unanswered = await imported([toServer(call('5', 'first'), at(0)), http({ status: 401 })])
    expect(unanswered.calls).toMatchObject([{ name: 'first', outcome: 'timeout' }])
  })
})

describe('any recording', () => {
  const id = fc.constantFrom('1', '"1"', '2', '1.0', '-0', '"a"', 'null', '"1e0"')
  const raw = fc.oneof(
    id.map((text) => call(text)),
    id.map((text) => result(text)),
    id.map((text) => `{"jsonrpc":"2.0","id":${text},"method":"ping"}`),
    id.map((text) => `{"jsonrpc":"2.0","id":${text},"error":{"code":1,"message":"no"}}`),
    fc.constantFrom('{"jsonrpc":"2.0","method":"n"}', `[${call('3')},${result('1')}]`),
  )
  const context = {
    exchange: fc.nat({ max: 3 }),
    status: fc.constantFrom(200, 401),
    headers: fc.constant([['WWW-Authenticate', 'Bearer scope=x']] as const),
  }
  const messages = fc
    .record(
      {
        direction: fc.constantFrom('client_to_server' as const, 'server_to_client' as const),
        raw,
        http: fc.record(context, { requiredKeys: ['exchange'] }),
        sse: fc.record({ event: fc.constantFrom('message', '', 'x'), id: fc.string() }, { requiredKeys: [] }),
        conversation: fc.constantFrom('a', 'b'),
      },
      { requiredKeys: ['direction', 'raw'] },
    )
    .map(({ direction, raw, ...more }) => message(direction, raw, more as Partial<MessageRecord>))
  const exchanges = fc.record(context, { requiredKeys: ['exchange'] }).map((more) => http(more))

  it('makes transcripts that importers take, and that are JSON by any measure', async () => {
    const tape = fc.oneof(
      fc.array(fc.oneof(messages, messages, exchanges), { maxLength: 12 }),
      ownTape,
      foreignTape,
    )
    await fc.assert(
      fc.asyncProperty(tape, fc.constantFrom(...transports), async (records, to) => {
        const { text } = await write(records, to)
        parseJson(text, true)
        const strict = importTranscript(text, to, 'strict')
        expect(importTranscript(text, to, 'documented')).toEqual(strict)
      }),
      { numRuns: runs(600) },
    )
  })
})
