import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { decodeLine, encodeRecord } from '../../src/formats/index.js'
import type { MessageRecord, Part, TapeRecord } from '../../src/model/index.js'
import { channels, type Channel } from '../../src/proxy/channel.js'
import type { ChunkBatch } from '../../src/proxy/chunk-batch.js'
import { Redactor } from '../../src/redaction/index.js'
import type { Moment } from '../../src/proxy/stamp.js'
import { RecordBuilder } from '../../src/proxy/record-builder.js'

/** Redacts nothing. */
const plain = new Redactor({ defaults: false, tag: () => '' })
const startMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
let builder: RecordBuilder
let us: number
beforeEach(() => {
  builder = new RecordBuilder(plain)
  us = 0
})

const at = () => ({ us: (us += 1000), wallMs: startMs + us / 1000 })
const push = (channel: 'in' | 'out' | 'err', text: string | Uint8Array): TapeRecord[] =>
  recordsOf(builder, batchOf(channel, Buffer.from(text), at()))

function recordsOf(builder: RecordBuilder, batch: ChunkBatch): TapeRecord[] {
  const records: TapeRecord[] = []
  builder.chunks(batch, (record) => records.push(record))
  return records
}

/** A batch of one chunk. */
function batchOf(channel: Channel, bytes: Uint8Array, moment: Moment): ChunkBatch {
  const marks = Float64Array.of(channels.indexOf(channel), moment.us, moment.wallMs, bytes.length)
  return { regions: { [channel]: Uint8Array.from(bytes) }, marks }
}

/** The messages of one pushed line or more. */
function messages(channel: 'in' | 'out', ...values: unknown[]): MessageRecord[] {
  const text = values.map(
    (value) =>
      `${typeof value === 'string' ? value : JSON.stringify({ jsonrpc: '2.0', ...(value as object) })}\n`,
  )
  return push(channel, text.join('')) as MessageRecord[]
}
const message = (channel: 'in' | 'out', value: unknown): Part => messages(channel, value)[0]!.parts[0]!

describe('a batch beyond all reason', () => {
  it('is one message that nobody can answer, kept to the letter and read back as such', () => {
    const text = `[${'{},'.repeat(20_000)}{}]`
    const [record] = push('in', `${text}\n`)
    const read = decodeLine(encodeRecord(record!).trimEnd())
    for (const one of [record, 'record' in read && read.record]) {
      expect(one).toMatchObject({
        type: 'message',
        batch: true,
        raw: text,
        parts: [{ envelope: { kind: 'invalid' } }],
      })
    }
  })
})

describe('a message', () => {
  it('has the next number over both directions, an id of its own, and the time on both clocks', () => {
    const [first, second] = messages('in', { id: 1, method: 'a' }, { method: 'b' })
    const [third] = messages('out', { id: 1, result: {} })
    expect([first, second, third]).toMatchObject([
      { type: 'message', seq: 0, us: 1000, t: '2026-01-02T03:04:05.679Z', direction: 'client_to_server' },
      { type: 'message', seq: 1, us: 1000, t: '2026-01-02T03:04:05.679Z', direction: 'client_to_server' },
      { type: 'message', seq: 2, us: 2000, t: '2026-01-02T03:04:05.680Z', direction: 'server_to_client' },
    ])
    const ids = [first, second, third].map((record) => record!.parts[0]!.id)
    expect(new Set(ids).size).toBe(3)
    for (const id of ids)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('is dated when its last byte came', () => {
    expect(push('in', '{"jsonrpc":"2.0",')).toEqual([])
    expect(push('in', '"method":"a"}')).toEqual([])
    expect(push('in', '\n')).toMatchObject([{ us: 3000, raw: '{"jsonrpc":"2.0","method":"a"}' }])
  })

  it('keeps its exact text; bytes only where the text cannot stand for them', () => {
    const exact = '{"a":1.0,"a":12345678901234567890,"b":"\\ud800\u2028"}'
    expect(push('in', `${exact}\n`)).toMatchObject([{ raw: exact }])
    expect(push('in', `${exact}\n`)[0]).not.toHaveProperty('bytes')
    expect(push('in', ` ${exact}\t\r\n`)).toMatchObject([
      { raw: exact, frameEnd: 'crlf', bytes: Buffer.from(` ${exact}\t`).toString('base64') },
    ])
    expect(push('in', '{"a":\r1}\n')).toMatchObject([
      { raw: '{"a": 1}', bytes: Buffer.from('{"a":\r1}').toString('base64') },
    ])
  })

  it('without a line end comes when the channel ends', () => {
    expect(push('out', '{}\n{"jsonrpc":"2.0","method":"last"}')).toHaveLength(1)
    expect(builder.ended('out', at())).toMatchObject([
      { raw: '{"jsonrpc":"2.0","method":"last"}', frameEnd: 'none' },
    ])
    expect(builder.ended('out', at())).toEqual([])
  })

  it('in a batch has its own number, id and relations, in one record', () => {
    messages('in', { id: 1, method: 'a' }, { id: 2, method: 'b' })
    const answers =
      '[{"jsonrpc":"2.0","id":2,"result":{}}, {"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}]'
    const [batch] = messages('out', answers)
    const [next] = messages('out', { method: 'c' })
    expect(batch).toMatchObject({ batch: true, seq: 2, raw: answers })
    expect(batch!.parts.map(({ start, end }) => batch!.raw.slice(start, end))).toEqual([
      '{"jsonrpc":"2.0","id":2,"result":{}}',
      '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}',
    ])
    expect(batch!.parts.every(({ correlatedId }) => correlatedId !== undefined)).toBe(true)
    expect(next).toMatchObject({ seq: 4 })
  })
})

describe('an answer', () => {
  it('belongs to the request of the other side with the same id', () => {
    const ours = message('in', { id: 1, method: 'tools/call' })
    const theirs = message('out', { id: 1, method: 'roots/list' })
    expect(message('in', { id: 1, result: {} })).toMatchObject({ correlatedId: theirs.id })
    expect(message('out', { id: 1, error: { code: 1, message: '' } })).toMatchObject({
      correlatedId: ours.id,
    })
  })

  it('to 1 is none to "1"', () => {
    const number = message('in', { id: 1, method: 'a' })
    const text = message('in', { id: '1', method: 'a' })
    expect(message('out', { id: '1', result: {} }).correlatedId).toBe(text.id)
    expect(message('out', { id: 1, result: {} }).correlatedId).toBe(number.id)
  })

  it('that comes again is late', () => {
    const request = message('in', { id: 1, method: 'a' })
    expect(message('out', { id: 1, result: {} })).not.toHaveProperty('late')
    expect(message('out', { id: 1, result: {} })).toMatchObject({ correlatedId: request.id, late: true })
  })

  it('to an id that two open requests have is left alone', () => {
    const first = message('in', { id: 1, method: 'a' })
    expect(message('in', { id: 1, method: 'b' })).toMatchObject({ duplicateOf: first.id })
    expect(message('out', { id: 1, result: {} })).not.toHaveProperty('correlatedId')
  })

  it('that nobody asked for has no request', () => {
    expect(message('out', { id: 5, result: {} })).not.toHaveProperty('correlatedId')
  })
})

it('links progress and cancellation to their request', () => {
  const request = message('in', { id: 1, method: 'tools/call', params: { _meta: { progressToken: 'p' } } })
  const progress = { method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } }
  expect(message('out', progress).links).toEqual([{ kind: 'progress', to: request.id }])
  const cancel = { method: 'notifications/cancelled', params: { requestId: 1 } }
  expect(message('in', cancel).links).toEqual([{ kind: 'cancel', to: request.id }])
  expect(message('in', progress)).not.toHaveProperty('links')
})

describe('a line that is no message', () => {
  it.each(['', '   ', 'Starting…', '42', '"text"', 'null', '[]', '[1]', '{"a":', '{} {}', '\u0000'])(
    'is noise: %j',
    (text) => {
      expect(push('out', `${text}\n`)).toMatchObject([{ type: 'noise', direction: 'server_to_client', text }])
    },
  )

  it('and no text either keeps its bytes', () => {
    expect(push('in', Uint8Array.of(0x7b, 0xff, 0x7d, 0x0d, 0x0a))).toMatchObject([
      { type: 'noise', text: '{\uFFFD}', bytes: 'e/99', frameEnd: 'crlf' },
    ])
  })

  it('takes no number', () => {
    push('out', 'noise\n')
    expect(messages('out', { method: 'a' })[0]).toMatchObject({ seq: 0 })
  })
})

describe('stderr', () => {
  it('is recorded line by line', () => {
    expect(push('err', 'one\ntwo\r\nthr')).toMatchObject([
      { type: 'stderr', text: 'one' },
      { type: 'stderr', text: 'two', frameEnd: 'crlf' },
    ])
    expect(builder.ended('err', at())).toMatchObject([{ type: 'stderr', text: 'thr', frameEnd: 'none' }])
  })

  it.each([
    ['\n', undefined],
    ['\r\n', 'crlf'],
    ['', 'none'],
  ])('keeps how a line ended that is recorded in pieces: %j', (lineEnd, frameEnd) => {
    const text = 'x'.repeat(200_000)
    const records = [...push('err', text), ...push('err', lineEnd), ...builder.ended('err', at())]
    const stderr = records.filter((record) => record.type === 'stderr')
    expect(stderr.map((record) => record.text).join('')).toBe(text)
    const ends = stderr.map((record) => record.frameEnd)
    expect(ends.slice(0, -1).every((end) => end === 'none')).toBe(true)
    expect(ends.at(-1)).toBe(frameEnd)
  })
})

describe('a message of more than 64 MB', () => {
  const chunk = Buffer.alloc(8 * 1024 * 1024, 'x')

  it('leaves a gap with its size and hash, takes a number, and the next one is fine', () => {
    const records: TapeRecord[] = []
    const hash = createHash('sha256')
    for (let i = 0; i < 9; i += 1) {
      records.push(...push('out', chunk))
      hash.update(chunk)
    }
    expect(records).toEqual([])
    records.push(...push('out', '"}\r\n{"jsonrpc":"2.0","method":"next"}\n'))
    const sha256 = hash.update('"}').digest('hex')
    expect(records).toMatchObject([
      { type: 'gap', lost: 1, lostBytes: 9 * chunk.length + 2, direction: 'server_to_client', sha256 },
      { type: 'message', seq: 1, raw: '{"jsonrpc":"2.0","method":"next"}' },
    ])
  })

  it('that never ends leaves its gap at the end of the channel', () => {
    for (let i = 0; i < 9; i += 1) push('in', chunk)
    expect(builder.ended('in', at())).toMatchObject([{ type: 'gap', lost: 1, lostBytes: 9 * chunk.length }])
  })
})

describe('when bytes passed unseen', () => {
  it('a gap counts the lines and bytes from the begin of the one that was cut, whose rest is skipped', () => {
    const begin = '{"jsonrpc":"2.0","method":"begins here'
    push('in', begin)
    const loss = { bytes: 100, lines: 3, atLineStart: false, why: 'slow disk' }
    expect(builder.lost('in', loss, at())).toMatchObject([
      {
        type: 'gap',
        lost: 4,
        lostBytes: begin.length + 100,
        why: 'slow disk',
        direction: 'client_to_server',
      },
    ])
    expect(push('in', 'rest of a line"}\n{"jsonrpc":"2.0","method":"whole"}\n')).toMatchObject([
      { type: 'message', seq: 4, raw: '{"jsonrpc":"2.0","method":"whole"}' },
    ])
  })

  it('and ended with a line, the next line counts', () => {
    const loss = { bytes: 100, lines: 3, atLineStart: true, why: 'slow disk' }
    expect(builder.lost('out', loss, at())).toMatchObject([{ type: 'gap', lost: 3 }])
    expect(messages('out', { method: 'a' })).toMatchObject([{ type: 'message', seq: 3 }])
  })

  it('on stderr, they are counted as such', () => {
    const loss = { bytes: 9, lines: 2, atLineStart: true, why: 'slow disk' }
    expect(builder.lost('err', loss, at())).toMatchObject([{ type: 'gap', lost: 0, lostStderr: 2 }])
    expect(messages('out', { method: 'a' })).toMatchObject([{ seq: 0 }])
  })
})

describe('what did not reach the other side', () => {
  it('is every message that ends behind the last delivered byte', () => {
    const records = messages('in', { method: 'a' }, { method: 'b' }, { method: 'c' })
    const [a, b, c] = records.map(({ parts }) => parts[0]!.id)
    const length = records[0]!.raw.length + 1
    push('out', '{"jsonrpc":"2.0","method":"other side"}\n')
    expect(builder.undelivered('in', 2 * length - 1, 'EPIPE', at())).toMatchObject([
      { type: 'undelivered', id: b, why: 'EPIPE' },
      { type: 'undelivered', id: c, why: 'EPIPE' },
    ])
    expect(a).not.toBe(b)
    expect(builder.undelivered('in', 0, 'EPIPE', at())).toEqual([])
  })

  it('is counted with the bytes that passed unseen', () => {
    builder.lost('in', { bytes: 1_000, lines: 1, atLineStart: true, why: '' }, at())
    const part = message('in', { method: 'a' })
    expect(builder.undelivered('in', 1_000, 'closed', at())).toMatchObject([{ id: part.id }])
  })
})

it('makes the same records of any bytes, however they are cut, and from them the bytes again', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '{"jsonrpc":"2.0","id":1,"method":"é🎞"}',
      '[{}]',
      '\n',
      '\r\n',
      '\r',
      ' ',
      '{}',
      '\u0000',
    ),
    fc.uint8Array({ maxLength: 8 }),
  )
  fc.assert(
    fc.property(
      fc.array(piece),
      fc.constantFrom('in', 'out', 'err'),
      fc.array(fc.nat(200)),
      (pieces, channel, cuts) => {
        const bytes = Buffer.concat(pieces.map((part) => Buffer.from(part)))
        const whole = new RecordBuilder(plain)
        const moment = { us: 0, wallMs: 0 }
        const expected = [
          ...recordsOf(whole, batchOf(channel, bytes, moment)),
          ...whole.ended(channel, moment),
        ]
        const parts = new RecordBuilder(plain)
        const records: TapeRecord[] = []
        let from = 0
        for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
          const batch = batchOf(channel, bytes.subarray(from, Math.max(from, cut)), moment)
          records.push(...recordsOf(parts, batch))
          // Its memory goes to the next batch.
          batch.regions[channel]?.fill(0x21)
          from = Math.max(from, cut)
        }
        records.push(...parts.ended(channel, moment))
        const withoutIds = (list: TapeRecord[]): string[] =>
          list.map((record) => encodeRecord(record).replaceAll(/"[-0-9a-f]{36}"/g, ''))
        expect(withoutIds(records)).toEqual(withoutIds(expected))
        expect(Buffer.concat(records.map(bytesOf)).equals(bytes)).toBe(true)
      },
    ),
  )
})

function bytesOf(record: TapeRecord): Buffer {
  if (record.type !== 'message' && record.type !== 'noise' && record.type !== 'stderr')
    throw new Error(record.type)
  const text = record.type === 'message' ? record.raw : record.text
  const body = record.bytes === undefined ? Buffer.from(text) : Buffer.from(record.bytes, 'base64')
  const ends = { crlf: '\r\n', none: '', lf: '\n' }
  return Buffer.concat([body, Buffer.from(ends[record.frameEnd ?? 'lf'])])
}
