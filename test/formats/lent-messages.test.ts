import { isUtf8 } from 'node:buffer'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  compactSession,
  formats,
  PlainEncoder,
  PlainLines,
  plainReaders,
  traceV1,
  type Format,
  type PlainForm,
  type Recording,
} from '../../src/formats/index.js'
import type { Diagnostic } from '../../src/model/index.js'
import { createMessageMemory } from '../../src/wire/index.js'
import type { MessageMemory } from '../../src/wire/message-memory.js'
import { nameless, oddTape } from '../cli/odd-tapes.js'
import { runs } from '../long.js'
import { messageModule } from '../message-module.js'
import { hardValues } from './hard-values.js'

const writers = [
  ...['csv', 'session-json', 'jsonrpc', 'trace-v1'].map((id) => formats.find((one) => one.id === id)!),
  compactSession,
]
const jsonrpc = formats.find(({ id }) => id === 'jsonrpc')!

/** Chunks in one piece of memory, overwritten when the next one is requested. */
async function* lentChunks(
  bytes: Uint8Array,
  at: readonly number[],
  see: (chunk: Uint8Array) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  const ends = [...at.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  const memory = new Uint8Array(bytes.length)
  let start = 0
  for (const end of ends) {
    memory.set(bytes.subarray(start, end))
    see(memory.subarray(0, end - start))
    yield memory.subarray(0, end - start)
    memory.fill(0x2a)
    start = end
  }
}

interface Written {
  readonly text: string
  readonly reports: readonly Diagnostic[]
}

const LF = 0x0a

/** Of the results, as a multiple of the chunk. */
const room = 3

/** Chunks that are not in `memory` are read by JavaScript. */
const mostBytes = 1 << 20
let memory: MessageMemory
let memoryChunk: Uint8Array
let memoryTarget: Uint8Array

type Prepares = 'never' | 'always' | 'with WebAssembly'

/** As a thread prepares the lines of a chunk. */
function prepared(
  chunk: Uint8Array,
  { read, prepares }: Pick<How, 'read' | 'prepares'>,
  form: PlainForm,
  isAtLineStart: boolean,
): PlainLines {
  const isInMemory = prepares === 'with WebAssembly'
  const own = isInMemory ? memoryChunk.subarray(0, chunk.length) : chunk
  own.set(chunk)
  memory.call.useUtf8(isUtf8(chunk))
  const target = isInMemory ? memoryTarget : new Uint8Array(room * chunk.length)
  const encoded = target.subarray(0, room * chunk.length)
  const arrays = PlainLines.arraysFor(chunk.length + 1024)
  const lines = new PlainLines(arrays)
  const encoder = form === 'bytes' ? undefined : new PlainEncoder(own, form, encoded)
  lines.find(own, plainReaders[read.lends!], encoder, isAtLineStart ? 0 : undefined)
  return new PlainLines(arrays, lines.count, encoded.slice())
}

interface How {
  /** Format of the bytes. */
  readonly read: Format
  readonly lends: boolean
  readonly prepares: Prepares
  /** Where the bytes are cut. */
  readonly at: readonly number[]
}

async function written(format: Format, bytes: Uint8Array, how: How): Promise<Written> {
  const { read, lends, prepares, at } = how
  const reports: Diagnostic[] = []
  const recording: Recording = {
    records: (lent) => {
      const own = { lines: undefined as PlainLines | undefined }
      let isAtLineStart = false
      const see = (chunk: Uint8Array): void => {
        if (lent && prepares !== 'never') own.lines = prepared(chunk, how, lent, isAtLineStart)
        isAtLineStart = chunk.at(-1) === LF
      }
      return read.read!(
        { bytes: () => lentChunks(bytes, at, see), ...(lends && lent && { lends: own }) },
        (problem) => reports.push(problem),
      )
    },
  }
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of format.write!(recording, (problem) => reports.push(problem)))
      chunks.push(chunk.slice())
  } catch (error) {
    return { text: String(error), reports }
  }
  return { text: Buffer.concat(chunks).toString(), reports }
}

async function expectSame(bytes: Uint8Array, at: readonly number[], read = traceV1): Promise<void> {
  for (const format of writers) {
    const expected = await written(format, bytes, { read, lends: false, prepares: 'never', at })
    for (const prepares of ['never', 'always', 'with WebAssembly'] as const) {
      // A thread cuts at line ends.
      const cutAt =
        prepares === 'with WebAssembly' ? at.map((place) => bytes.indexOf(LF, place % bytes.length) + 1) : at
      expect(await written(format, bytes, { read, lends: true, prepares, at: cutAt })).toEqual(expected)
    }
  }
}

const texts = [
  'a;=1',
  'a; =1',
  '"',
  '""',
  '\\u00e9',
  '\\ud83d\\ude00',
  '\\ud800',
  'é∀🎞',
  '\\"',
  'x'.repeat(300),
]
const value = fc.oneof(
  fc.constantFrom(...hardValues, '9'.repeat(4200), `${'['.repeat(195)}${']'.repeat(195)}`),
  fc.constantFrom(...texts.map((text) => `"${text}"`)),
  fc.json(),
)
const id = fc.constantFrom('1', '2', '"a"', '1.0', '-0', '1e2', '"é"', '9'.repeat(30))
const message = fc.oneof(
  fc
    .tuple(id, value)
    .map(
      ([i, v]) =>
        `{"jsonrpc":"2.0","id":${i},"method":"tools/call","params":{"name":"n","arguments":{"a":${v}}}}`,
    ),
  fc.tuple(id, value).map(([i, v]) => `{"jsonrpc":"2.0","id":${i},"result":{"content":${v},"isError":true}}`),
  fc
    .tuple(id, value)
    .map(([i, v]) => `{"jsonrpc":"2.0","id":${i},"error":{"code":-32603,"message":"no","data":${v}}}`),
  fc
    .constantFrom('-32603', '1.5', '1e2')
    .map((code) => `{"jsonrpc":"2.0","id":1,"error":{"code":${code},"message":"=no"}}`),
  value.map((v) => `{"jsonrpc":"2.0","method":"a/b","params":${v}}`),
  value.map((v) => `{"jsonrpc": "2.0", "method": "a/b", "x": ${v}}`),
)
const tail = fc.constantFrom(
  '',
  ',"seq":4',
  ',"us":7000',
  ',"id":"own","seq":5,"us":900',
  ',"id":"","seq":5,"us":900',
  ',"id":"own","corr":"other","late":true,"seq":6,"us":901,"conv":"c"',
  ',"id":"own","seq":8,"us":1000',
  ',"id":"own","corr":"other","seq":9,"us":1020',
  ',"id":"own","corr":"","seq":10,"us":900000',
  ',"seq":7,"eol":"crlf"',
  ',"red":[{"at":"/x","tag":"t"}]',
  ',"http":{"exchange":1}',
  ',"more":1',
)
const line = fc
  .tuple(
    message,
    tail,
    fc.boolean(),
    fc.constantFrom('2026-08-01T10:00:00.001Z', '2026-08-01T10:00:00.9Z', ''),
  )
  .map(([raw, rest, isIn, t]) => `{"t":"${t}","dir":"${isIn ? 'in' : 'out'}","raw":${raw}${rest}}`)
const foreignMeta = '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"a","command":[]}'
const ownMeta = foreignMeta.replace(
  /\}$/,
  ',"wiretape":{"version":"1","session":"s","transport":"streamable-http","url":null,"segment":0,"redaction":"none","metadata":{}}}',
)
const cuts = fc.array(fc.nat(100_000), { maxLength: 3 })

const otherLine = fc.constantFrom(
  '',
  'broken',
  '[{"jsonrpc":"2.0","id":1,"method":"a"}]',
  '{"jsonrpc":"2.0"}',
)
const progress = fc.constantFrom(
  '{"jsonrpc":"2.0","id":3,"method":"roots/list","params":{"_meta":{"progressToken":"p"}}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}',
  '{"jsonrpc":"2.0","id":3,"result":{"roots":[]}}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}',
  '{"jsonrpc":"2.0","method":"a","timestamp_ms":1785578400000}',
)
// Messages wait for the first time, or until so many have none.
const start = fc.constantFrom(
  '{"jsonrpc":"2.0","method":"a","timestamp_ms":1785578400000}\n',
  '{"jsonrpc":"2.0","method":"a"}\n'.repeat(257),
  '',
)
const jsonrpcFile = fc.tuple(
  start,
  fc.array(fc.oneof(message, message, progress, otherLine), { maxLength: 8 }),
  cuts,
)

describe('messages whose bytes are lent', () => {
  beforeAll(() => {
    memory = createMessageMemory(messageModule)!
    memoryChunk = memory.take(mostBytes)!
    memoryTarget = memory.take(room * mostBytes)!
  })
  afterAll(() => void createMessageMemory(undefined))

  it('give the same files as records, on tapes of wiretape and of others', async () => {
    const seeds = fc.tuple(fc.nat(2 ** 31), fc.constantFrom(0, 0, 3, 7), cuts)
    const same = ([seed, share, at]: readonly [number, number, readonly number[]]): Promise<void> =>
      expectSame(share === 0 ? oddTape(seed) : nameless(oddTape(seed), share), at)
    await fc.assert(fc.asyncProperty(seeds, same), { numRuns: runs(40) })
  })

  it('give the same files as records, whatever their messages contain', async () => {
    const tape = fc.tuple(fc.constantFrom(foreignMeta, ownMeta, ''), fc.array(line, { maxLength: 8 }), cuts)
    const same = ([meta, lines, at]: readonly [
      string,
      readonly string[],
      readonly number[],
    ]): Promise<void> => expectSame(Buffer.from([meta, ...lines, ''].join('\n')), at)
    await fc.assert(fc.asyncProperty(tape, same), { numRuns: runs(300) })
  })

  it('give the same files as records, in files of JSON-RPC messages', async () => {
    const same = ([first, lines, at]: readonly [
      string,
      readonly string[],
      readonly number[],
    ]): Promise<void> => expectSame(Buffer.from(`${first}${lines.join('\n')}\n`), at, jsonrpc)
    await fc.assert(fc.asyncProperty(jsonrpcFile, same), { numRuns: runs(100) })
  })

  it('are left out where they are not requested, in files of JSON-RPC messages', async () => {
    const same = async (
      [first, lines, at]: readonly [string, readonly string[], readonly number[]],
      wanted: readonly boolean[],
    ): Promise<void> => {
      const input = { bytes: () => lentChunks(Buffer.from(`${first}${lines.join('\n')}\n`), at), seen: {} }
      let isFaulty = false
      const textsOf = async (only?: (record: number) => boolean): Promise<string[]> => {
        const found: string[] = []
        const selection = only && { only, checked: true }
        for await (const record of jsonrpc.read!({ ...input, ...selection }, () => (isFaulty = true)))
          found.push(record.type === 'message' ? `${record.t} ${record.raw}` : record.type)
        return found
      }
      const all = await textsOf().catch(() => undefined)
      // Records of faulty files are not requested by number.
      if (isFaulty || !all) return
      const only = (record: number): boolean => wanted[record % wanted.length]!
      expect(await textsOf(only)).toEqual(all.filter((_, record) => only(record)))
    }
    const some = fc.array(fc.boolean(), { minLength: 1, maxLength: 7 })
    await fc.assert(fc.asyncProperty(jsonrpcFile, some, same), { numRuns: runs(100) })
  })
})
