import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeRecord, MessageLineEncoder } from '../../src/formats/index.js'
import type { MessageIds } from '../../src/model/index.js'
import { channels, type Channel } from '../../src/proxy/channel.js'
import type { ChunkBatch } from '../../src/proxy/chunk-batch.js'
import { RecordBuilder } from '../../src/proxy/record-builder.js'
import { Redactor } from '../../src/redaction/index.js'
import { createMessageMemory, nowhere, messageMemory } from '../../src/wire/index.js'
import { runs } from '../long.js'
import { message, numberedIds } from './messages.js'
import { messageModule } from '../message-module.js'

/** A line of the wire, its terminator included. */
interface Line {
  readonly channel: Channel
  readonly bytes: Uint8Array
}

const encoder = new TextEncoder()
const startMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

const line: fc.Arbitrary<Line> = fc
  .tuple(
    fc.constantFrom<Channel>('in', 'in', 'out', 'out', 'err'),
    fc.oneof(
      { weight: 6, arbitrary: message.map((text) => encoder.encode(text)) },
      fc.array(message, { maxLength: 2 }).map((all) => encoder.encode(`[${all.join(',')}]`)),
      fc.uint8Array({ maxLength: 12 }),
    ),
    fc.constantFrom('\n', '\n', '\n', '\n', '\r\n', ' \n', ''),
  )
  .map(([channel, bytes, end]) => ({ channel, bytes: Uint8Array.from([...bytes, ...encoder.encode(end)]) }))

/** After a batch, bytes of a channel are lost. */
interface Loss {
  readonly channel: Channel
  readonly bytes: number
  readonly atLineStart: boolean
}

const losses: fc.Arbitrary<(Loss | undefined)[]> = fc.array(
  fc.option(
    fc.record({
      channel: fc.constantFrom(...channels),
      bytes: fc.integer({ min: 1, max: 50 }),
      atLineStart: fc.boolean(),
    }),
    { nil: undefined, freq: 6 },
  ),
  { maxLength: 20 },
)

/** The lines of each channel in chunks cut anywhere, and the chunks in batches. */
const traffic = fc
  .tuple(
    fc.array(line, { maxLength: 30 }),
    fc.array(fc.nat({ max: 90 }), { minLength: 1, maxLength: 8 }),
    fc.nat({ max: 6 }),
  )
  .map(([lines, sizes, perBatch]) => {
    const chunks: Line[] = []
    let n = 0
    for (const { channel, bytes } of lines) {
      for (let at = 0; at < bytes.length;) {
        const size = 1 + (sizes[n++ % sizes.length] ?? 0)
        chunks.push({ channel, bytes: bytes.subarray(at, at + size) })
        at += size
      }
    }
    const batches: Line[][] = []
    for (let at = 0; at < chunks.length; at += perBatch + 1) batches.push(chunks.slice(at, at + perBatch + 1))
    return batches
  })

function batchOf(chunks: readonly Line[], first: number): ChunkBatch {
  const marks = chunks.flatMap(({ channel, bytes }, i) => {
    const us = 1000 * (first + i) + 0.4
    return [channels.indexOf(channel), us, startMs + us / 1000, bytes.length]
  })
  const regions: Partial<Record<Channel, Uint8Array>> = {}
  for (const channel of channels) {
    const own = chunks.filter((chunk) => chunk.channel === channel)
    if (own.length > 0) regions[channel] = Uint8Array.from(Buffer.concat(own.map(({ bytes }) => bytes)))
  }
  return { regions, marks: Float64Array.from(marks) }
}

interface Recorded {
  readonly tape: string
  readonly openRequests: unknown
  readonly recorded: unknown
  /** Messages that went the short way. */
  readonly short: number
}

/** The tape of some traffic, its ids numbered in the order in which they appear. */
function record(
  batches: readonly (readonly Line[])[],
  shortWay: boolean,
  defaults: boolean,
  lost: readonly (Loss | undefined)[] = [],
): Recorded {
  const builder = new RecordBuilder(new Redactor({ defaults, tag: () => 'tag' }))
  const target = messageMemory?.take(2_000_000)
  const buffer = target
    ? Buffer.from(target.buffer, target.byteOffset, target.length)
    : Buffer.alloc(2_000_000)
  const lines: string[] = []
  let short = 0
  const lineEncoder = new MessageLineEncoder()
  const addPlain = (line: Parameters<MessageLineEncoder['write']>[0], ids: MessageIds): void => {
    const end = lineEncoder.write(line, ids, buffer, 0, target?.byteOffset ?? nowhere)
    expect(end).toBeLessThanOrEqual(lineEncoder.mostBytes(line))
    lines.push(buffer.toString('utf8', 0, end))
    short += 1
  }
  let first = 0
  for (const [i, chunks] of batches.entries()) {
    builder.chunks(
      batchOf(chunks, first),
      (one) => lines.push(encodeRecord(one)),
      shortWay ? { addPlain } : undefined,
    )
    first += chunks.length
    const loss = lost[i]
    if (loss) {
      const gaps = builder.lost(loss.channel, { ...loss, lines: 1, why: 'x' }, { us: 1e6, wallMs: startMs })
      lines.push(...gaps.map((one) => encodeRecord(one)))
    }
  }
  const at = { us: 1e6, wallMs: startMs + 1000 }
  const rest = [
    ...channels.flatMap((channel) => builder.ended(channel, at)),
    ...builder.undelivered('in', 40, 'closed', at),
    ...builder.undelivered('out', 0, 'closed', at),
  ]
  const tape = numberedIds([...lines, ...rest.map((one) => encodeRecord(one))].join(''))
  return { tape, openRequests: builder.openRequests(), recorded: builder.recorded, short }
}

describe('the short way of a plain message onto the tape', () => {
  afterEach(() => {
    createMessageMemory(undefined)
  })

  it.each([
    ['JavaScript', 2_000],
    ['WebAssembly', 400],
  ])(
    'gives the lines that the long way gives, whatever passes, however it is cut, and whatever is lost, with %s',
    (by, times) => {
      fc.assert(
        fc.property(traffic, fc.boolean(), losses, (batches, defaults, lost) => {
          createMessageMemory(by === 'WebAssembly' ? messageModule : undefined)
          const { short: _, ...shortWay } = record(batches, true, defaults, lost)
          createMessageMemory(undefined)
          const { short, ...longWay } = record(batches, false, defaults, lost)
          expect(short).toBe(0)
          expect(shortWay).toEqual(longWay)
        }),
        { numRuns: runs(times) },
      )
    },
  )

  it('is taken by requests, results and notifications of the usual shape', () => {
    const usual = [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"é \\n","n":[1,2.5e3,null]}}}',
      '{"jsonrpc": "2.0", "id": 1, "result": {"content": [], "isError": false, "resultType": "complete"}}',
      '{"method":"notifications/message","params":{"level":"info"},"jsonrpc":"2.0"}',
      '{"jsonrpc":"2.0","id":"a-1","method":"resources/read","params":{"uri":"file:///x"}}',
    ]
    const bytes = encoder.encode(`${usual.join('\n')}\n`)
    expect(record([[{ channel: 'in', bytes }]], true, true).short).toBe(usual.length)
  })

  it.each([false, true])('is taken by a message that crosses batches, up to 1 MiB', (hasMemory) => {
    const module = hasMemory ? messageModule : undefined
    const sent = (sizeBytes: number): Line[][] => {
      const text = `{"jsonrpc":"2.0","id":1,"result":{"text":"${'x'.repeat(sizeBytes)}"}}\n`
      const bytes = Buffer.from(text.repeat(3))
      return [0, 1, 2, 3, 4].map((n) => {
        const part = bytes.subarray((n * bytes.length) / 5, ((n + 1) * bytes.length) / 5)
        return [{ channel: 'out' as const, bytes: part }]
      })
    }
    expect(createMessageMemory(module) !== undefined).toBe(hasMemory)
    const taken = record(sent(1_000_000), true, true)
    createMessageMemory(module)
    expect(taken.short).toBe(3)
    expect(taken.tape).toBe(record(sent(1_000_000), false, true).tape)
    createMessageMemory(module)
    expect(record(sent(1_100_000), true, true).short).toBe(0)
  })

  it('is closed to what holds a secret', () => {
    const bytes = encoder.encode(
      '{"jsonrpc":"2.0","id":1,"method":"x","params":{"password":"correct horse battery staple"}}\n',
    )
    const { short, tape } = record([[{ channel: 'in', bytes }]], true, true)
    expect(short).toBe(0)
    expect(tape).not.toContain('horse')
  })

  it('gives each message a UUID of its own', () => {
    const bytes = encoder.encode('{"jsonrpc":"2.0","method":"x"}\n'.repeat(2000))
    const ids = new Set(record([[{ channel: 'in', bytes }]], true, true).tape.match(/id \d+/g))
    expect(ids.size).toBe(2000)
  })
})
