import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeLine,
  detectFormat,
  encodeRecord,
  readTraceLines,
  traceV1,
  type TraceLine,
} from '../../src/formats/index.js'
import { WiretapeError, type Diagnostic, type MessageRecord, type TapeRecord } from '../../src/model/index.js'
import { readEnvelope } from '../../src/wire/index.js'
import { heldBytes } from '../model/heap.js'
import { hardValues } from './hard-values.js'
import { indexTrace } from './trace-index.js'
import { isLong, runs } from '../long.js'

const folder = join(import.meta.dirname, '../fixtures/trace-v1')
const golden = (name: string): string => readFileSync(join(folder, name), 'utf8')
const utf8 = new TextEncoder()

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[] = []): AsyncIterable<Uint8Array> {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  for (let i = 1; i < at.length; i += 1) yield bytes.slice(at[i - 1], at[i])
}

interface Reading {
  lines: TraceLine[]
  problems: Diagnostic[]
}

async function read(input: string | Uint8Array, cuts: readonly number[] = []): Promise<Reading> {
  const bytes = typeof input === 'string' ? utf8.encode(input) : input
  const problems: Diagnostic[] = []
  const lines: TraceLine[] = []
  for await (const line of readTraceLines(chunksOf(bytes, cuts), (problem) => problems.push(problem)))
    lines.push(line)
  return { lines, problems }
}

/** The same, where a refusal is one of the results. */
async function readAny(input: Uint8Array): Promise<Reading | WiretapeError> {
  try {
    return await read(input)
  } catch (error) {
    if (error instanceof WiretapeError) return error
    throw error
  }
}

const recordsOf = (reading: Reading): TapeRecord[] => reading.lines.map(({ record }) => record)
const encodeAll = (records: readonly TapeRecord[], strict = false): string =>
  records.map((record) => encodeRecord(record, { strict })).join('')
const codesOf = (problems: readonly Diagnostic[]): string[] =>
  problems.map(({ code, at }) => (at?.line === undefined ? code : `${code}@${at.line}`))

const metaLine = '{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"l","command":["s"]}\n'
const messageLine = (raw: string, more = ''): string =>
  `{"t":"2026-01-01T00:00:00.001Z","dir":"in","raw":${raw}${more}}\n`
const endLine = '{"t":"2026-01-01T00:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}\n'
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'

describe('golden files', () => {
  it.each(readdirSync(folder))('%s is recognised and read without complaint', async (name) => {
    const text = golden(name)
    expect(detectFormat(utf8.encode(text))).toBe(traceV1)
    const reading = await read(text)
    expect(reading.problems).toEqual([])
    expect(reading.lines).toHaveLength(text.trimEnd().split('\n').length)
  })

  it.each(['every-member.jsonl', 'rotated.jsonl', 'strict.jsonl'])(
    '%s is written back byte for byte',
    async (name) => {
      const text = golden(name)
      expect(encodeAll(recordsOf(await read(text)))).toBe(text)
    },
  )

  it('a plain v1 file of another recorder is read with its meaning', async () => {
    const records = recordsOf(await read(golden('plain.jsonl')))
    expect(records[0]).toEqual({
      type: 'meta',
      startedAt: '2026-05-12T23:00:00.000Z',
      label: 'filesystem',
      command: ['npx', '-y', '@modelcontextprotocol/server-filesystem', '/home/me'],
      mcpTapVersion: '0.1.0-alpha.1',
    })
    expect(records[3]).toEqual({
      type: 'message',
      t: '2026-05-12T23:00:00.421Z',
      direction: 'client_to_server',
      raw: '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
      batch: false,
      parts: [
        {
          envelope: { kind: 'notification', method: 'notifications/initialized' },
          start: 0,
          end: 57,
          sizeBytes: 57,
        },
      ],
    })
    expect(records.at(-1)).toEqual({
      type: 'end',
      t: '2026-05-12T23:00:30.000Z',
      exitCode: 0,
      durationMs: 30_000,
    })
  })

  it('every member of ours has its place in the model', async () => {
    const records = recordsOf(await read(golden('every-member.jsonl')))
    expect(records.every((record) => record.type !== 'unknown' && record.extra === undefined)).toBe(true)
    expect(records[0]).toMatchObject({
      wiretape: {
        metadata: [
          ['target', '"prod"'],
          ['notes', '"a \\"note\\""'],
          ['n', '1.0'],
        ],
      },
    })
    expect(records[4]).toMatchObject({ seq: 3, us: 1500, parts: [{ late: true }] })
    expect(records[6]).toMatchObject({
      conversation: 'c1',
      us: 1601.5,
      parts: [{ duplicateOf: expect.any(String) }],
    })
    expect(records[7]).toMatchObject({
      batch: true,
      seq: 6,
      parts: [{ id: expect.any(String) }, { links: [{ kind: 'cancel' }] }],
    })
    expect(records[8]).toMatchObject({ frameEnd: 'none', bytes: expect.any(String) })
    expect(records[12]).toMatchObject({ type: 'gap', lost: 3, lostStderr: 2, lostBytes: 4096 })
  })

  it('members and types that we do not know survive, those of known names and other kinds too', async () => {
    const text = golden('unknown.jsonl')
    const first = recordsOf(await read(text))
    const second = encodeAll(first)
    expect(second.trimEnd().split('\n').map(sorted)).toEqual(text.trimEnd().split('\n').map(sorted))
    expect(encodeAll(recordsOf(await read(second)))).toBe(second)
    expect(first.map(({ type }) => type)).toEqual([
      'meta',
      'message',
      'message',
      'message',
      'message',
      'unknown',
      'unknown',
      'gap',
      'end',
    ])
    expect(first.at(-1)).toMatchObject({ exitCode: null })
  })

  it('the strict form holds only what the published format has', async () => {
    const records = recordsOf(await read(golden('every-member.jsonl')))
    const lines = encodeAll(records, true).trimEnd().split('\n')
    expect(lines).toHaveLength(records.filter(({ type }) => ['meta', 'message', 'end'].includes(type)).length)
    const names = new Set(lines.flatMap((line) => Object.keys(JSON.parse(line) as object)))
    expect([...names].toSorted()).toEqual(
      [
        'v',
        'type',
        'startedAt',
        'label',
        'command',
        'mcpTapVersion',
        't',
        'dir',
        'raw',
        'exitCode',
        'durationMs',
      ].toSorted(),
    )
    // An unknown exit is not passed off as success.
    expect(
      encodeRecord({ type: 'end', t: '', exitCode: null, durationMs: null }, { strict: true }),
    ).toContain('"exitCode":1')
  })
})

/** A line as its members in a fixed order, values as exact text. */
function sorted(line: string): string[] {
  const decoded = decodeLine(`{"type":"unknown-type","line":${line}}`)
  expect(decoded).toHaveProperty('record')
  return line
    .slice(1, -1)
    .split(/,(?="[^"]+":)/)
    .toSorted()
}

describe('a message that was changed on the way', () => {
  const changed =
    ',"modified":true,"original":{"jsonrpc":"2.0", "id":1.0},"red":[{"at":"/params/key","tag":"ab"},{"at":"","tag":""}]'

  it('has its place in the model, and is written back byte for byte', async () => {
    const text = `${metaLine}${messageLine(ping, changed)}${messageLine(`[${ping}]`, changed)}${messageLine(ping, `${changed},"more":1`)}`
    const [, one, batch, more] = recordsOf(await read(text))
    for (const record of [one, batch, more]) {
      expect(record).toMatchObject({
        modified: true,
        original: '{"jsonrpc":"2.0", "id":1.0}',
        red: [
          { at: '/params/key', tag: 'ab' },
          { at: '', tag: '' },
        ],
      })
    }
    expect([one, batch].map((record) => (record as MessageRecord).extra)).toEqual([undefined, undefined])
    expect((more as MessageRecord).extra).toEqual([['more', '1']])
    expect(encodeAll(recordsOf(await read(text)))).toBe(text)
  })

  it('is no part of the strict form', async () => {
    const records = recordsOf(await read(metaLine + messageLine(ping, changed)))
    expect(encodeAll(records, true)).toBe(metaLine + messageLine(ping))
  })

  it.each([
    '"modified":false',
    '"modified":"yes"',
    '"red":[]',
    '"red":{"at":"","tag":""}',
    '"red":[{"at":"/a","tag":1}]',
    '"red":[{"at":"/a","tag":"x","more":1}]',
    '"red":[{"at":"/a","tag":"x"},5]',
  ])('in a shape that we do not write stays as it is: %s', async (member) => {
    const text = metaLine + messageLine(ping, `,${member}`)
    const [, record] = recordsOf(await read(text))
    expect(record).not.toHaveProperty('modified')
    expect(record).not.toHaveProperty('red')
    expect(encodeAll(recordsOf(await read(text)))).toBe(text)
  })

  it('may have an original that is no message, and one without the mark', async () => {
    const text =
      metaLine +
      ['null', '"x"', '[1, 2]', '1e400'].map((json) => messageLine(ping, `,"original":${json}`)).join('')
    const records = recordsOf(await read(text))
    expect(records.slice(1).map((record) => (record as MessageRecord).original)).toEqual([
      'null',
      '"x"',
      '[1, 2]',
      '1e400',
    ])
    expect(encodeAll(records)).toBe(text)
  })
})

describe('versions', () => {
  it.each([
    ['2', 'trace version 2'],
    ['"1"', 'trace version "1"'],
    ['1.5', 'trace version 1.5'],
    ['null', 'trace version null'],
    ['10', 'trace version 10'],
  ])('v %s is refused', async (version, said) => {
    const text = metaLine.replace('"v":1', `"v":${version}`) + endLine
    await expect(read(text)).rejects.toThrow(
      expect.objectContaining({
        name: 'WiretapeError',
        code: 'unsupported-version',
        message: expect.stringContaining(`line 1 has ${said}`),
      }),
    )
  })

  it('no v is refused', async () => {
    await expect(read(metaLine.replace('"v":1,', '') + endLine)).rejects.toThrow(
      expect.objectContaining({
        code: 'unsupported-version',
        message: expect.stringContaining('no version'),
      }),
    )
  })

  it('1.0 is the number 1', async () => {
    expect((await read(metaLine.replace('"v":1', '"v":1.0') + endLine)).problems).toEqual([])
  })
})

describe('what is wrong with a file', () => {
  const message = messageLine(ping)
  it.each<[string, string, string[], number]>([
    ['a byte order mark', `\ufeff${metaLine}${endLine}`, ['bom@1'], 2],
    ['CR LF as line ends', `${metaLine}${message}${endLine}`.replaceAll('\n', '\r\n'), [], 3],
    ['blank lines', `\n${metaLine}\n \t\n${message}\n${endLine}\n`, [], 3],
    ['a torn last line', `${metaLine}${message}${message.slice(0, 40)}`, ['torn-line@3', 'incomplete'], 2],
    ['a last line without line feed', `${metaLine}${message}${endLine.trimEnd()}`, [], 3],
    ['garbage in the middle', `${metaLine}%&/\n${message}${endLine}`, ['not-json@2'], 3],
    ['an array in the middle', `${metaLine}[]\n${message}${endLine}`, ['not-an-object@2'], 3],
    ['a message without direction', `${metaLine}{"t":"","raw":{}}\n${endLine}`, ['bad-message@2'], 2],
    ['a message without time', `${metaLine}{"dir":"in","raw":{}}\n${endLine}`, ['bad-message@2'], 2],
    ['a message without raw', `${metaLine}{"t":"","dir":"in"}\n${endLine}`, ['bad-message@2'], 2],
    ['a type that is a number', `${metaLine}{"type":1}\n${endLine}`, ['bad-type@2'], 2],
    ['no meta line', `${message}${endLine}`, ['no-meta@1'], 2],
    [
      'a meta line without start',
      `{"v":1,"type":"meta"}\n${message}${endLine}`,
      ['bad-meta@1', 'no-meta@2'],
      2,
    ],
    ['no end line', `${metaLine}${message}`, ['incomplete'], 2],
    ['something after the end', `${metaLine}${endLine}${message}`, ['after-end@3', 'incomplete'], 3],
    ['a cut off tape before another', `${metaLine}${message}${metaLine}${endLine}`, ['incomplete@3'], 4],
  ])('%s costs no more than it must', async (_, text, codes, lines) => {
    const reading = await read(text)
    expect(codesOf(reading.problems)).toEqual(codes)
    expect(reading.lines).toHaveLength(lines)
  })

  it('names the column of text that is not JSON', async () => {
    const { problems } = await read(`${metaLine}{"t":tru}\n${endLine}`)
    expect(problems[0]).toMatchObject({ code: 'not-json', at: { line: 2, column: 9 } })
  })

  it('a line that is not UTF-8 costs itself', async () => {
    const text = utf8.encode(metaLine + messageLine('{"x":"_"}') + endLine)
    text[text.lastIndexOf(0x5f)] = 0xff
    expect(codesOf((await read(text)).problems)).toEqual(['not-utf8@2'])
  })

  it.each(['', '\n\n', 'hello\n', '[1]\n', '{"type":"log","text":"of something else"}\n'])(
    '%j is no recording',
    async (text) => {
      await expect(read(text)).rejects.toThrow(expect.objectContaining({ code: 'not-a-recording' }))
      expect(detectFormat(utf8.encode(text))).toBeUndefined()
    },
  )

  it('a damaged or missing first line does not hide that it is a tape', () => {
    expect(detectFormat(utf8.encode(`\u0000\u0000\n${messageLine(ping)}`))).toBe(traceV1)
    expect(detectFormat(utf8.encode(messageLine(ping)))).toBe(traceV1)
    expect(detectFormat(utf8.encode(messageLine(`"${'x'.repeat(100_000)}"`)).subarray(0, 65_536))).toBe(
      traceV1,
    )
    expect(detectFormat(utf8.encode(metaLine.slice(0, 60)))).toBe(traceV1)
  })
})

describe('round trip', () => {
  const value = fc.oneof(fc.constantFrom(...hardValues), fc.json())
  const text = fc.string({ unit: 'binary' })
  const element = fc.oneof(
    value.map((v) => `{"jsonrpc":"2.0","id":${JSON.stringify(v)},"method":"m","params":${v}}`),
    value.map((v) => `{"jsonrpc":"2.0","id":1,"result":${v}}`),
    value.map((v) => `{ "method" : ${v}}`),
  )
  const notes = fc.record(
    {
      id: fc.uuid(),
      correlatedId: fc.uuid(),
      late: fc.constant(true as const),
      duplicateOf: text,
      links: fc.array(
        fc.record({ kind: fc.constantFrom('progress', 'cancel', 'task', 'round', 'subscription'), to: text }),
        { minLength: 1, maxLength: 3 },
      ),
    },
    { requiredKeys: ['id'] },
  )
  const frame = fc.record(
    { frameEnd: fc.constantFrom('crlf', 'none'), bytes: fc.base64String() },
    { requiredKeys: [] },
  )
  const extra = fc.uniqueArray(
    fc.tuple(
      text.map((name) => `x-${name}`),
      value,
    ),
    {
      minLength: 1,
      maxLength: 3,
      selector: ([name]) => name,
    },
  )
  const common = fc.record(
    { us: fc.oneof(fc.nat(), fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })), extra },
    { requiredKeys: [] },
  )
  const direction = fc.constantFrom('client_to_server', 'server_to_client')
  const message = fc
    .tuple(
      fc.array(fc.tuple(element, notes), { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      direction,
      common,
      frame,
      fc.record(
        {
          seq: fc.nat(),
          conversation: text,
          modified: fc.constant(true as const),
          original: value,
          heldMs: fc.nat(),
          injected: fc.constant(true as const),
          rule: text,
          red: fc.array(fc.record({ at: text, tag: text }), { minLength: 1, maxLength: 3 }),
        },
        { requiredKeys: [] },
      ),
    )
    .map(([elements, batch, direction, common, frame, more]): TapeRecord => {
      const used = batch ? elements : elements.slice(0, 1)
      let raw = batch ? '[ ' : ''
      const parts: MessageRecord['parts'][number][] = []
      for (const [json, note] of used) {
        if (parts.length > 0) raw += ' , '
        const start = raw.length
        raw += json
        parts.push({ ...(note as object), envelope: readEnvelope(raw, start), start, end: raw.length })
      }
      if (batch) raw += ']'
      return {
        type: 'message',
        t: 'now',
        direction,
        raw,
        batch,
        parts,
        ...common,
        ...frame,
        ...more,
      }
    })
  const held = message.map((record): TapeRecord => {
    const { modified: _, original: _o, heldMs: _h, injected: _i, ...frame } = record as MessageRecord
    return { ...frame, type: 'held' }
  })
  const other = fc.oneof(
    held,
    fc
      .tuple(text, text, common, fc.record({ rule: text }, { requiredKeys: [] }))
      .map(([id, why, common, more]) => ({ type: 'dropped', t: '', id, why, ...common, ...more })),
    fc
      .tuple(text, common, fc.record({ about: text }, { requiredKeys: [] }))
      .map(([text, common, more]) => ({ type: 'note', t: '', text, ...common, ...more })),
    fc.tuple(direction, text, common, frame).map(([direction, text, common, frame]) => ({
      type: 'noise',
      t: 'now',
      direction,
      text,
      ...common,
      ...frame,
    })),
    fc
      .tuple(text, common, frame)
      .map(([text, common, frame]) => ({ type: 'stderr', t: '', text, ...common, ...frame })),
    fc
      .tuple(
        fc.nat(),
        text,
        common,
        fc.record(
          { lostStderr: fc.nat(), lostBytes: fc.nat(), direction, sha256: text },
          { requiredKeys: [] },
        ),
      )
      .map(([lost, why, common, more]) => ({ type: 'gap', t: '', lost, why, ...common, ...more })),
    fc
      .tuple(text, text, common)
      .map(([id, why, common]) => ({ type: 'undelivered', t: '', id, why, ...common })),
  ) as fc.Arbitrary<TapeRecord>
  const meta = fc
    .tuple(
      text,
      fc.array(text),
      fc.record({ mcpTapVersion: text, extra }, { requiredKeys: [] }),
      fc.uniqueArray(fc.tuple(text, value), { maxLength: 4, selector: ([name]) => name }),
    )
    .map(([label, command, more, metadata]): TapeRecord => ({
      type: 'meta',
      startedAt: '2026',
      label,
      command,
      ...more,
      wiretape: {
        version: label,
        session: 's',
        transport: 'sse',
        url: label,
        segment: 3,
        redaction: '',
        metadata,
      },
    }))
  const tape = fc
    .tuple(meta, fc.array(fc.oneof(message, other), { maxLength: 8 }))
    .map(([first, rest]) => [first, ...rest])

  it('keeps every record as it is, however the bytes are cut, and writes the same bytes again', async () => {
    await fc.assert(
      fc.asyncProperty(tape, fc.array(fc.nat(), { maxLength: 10 }), async (records, cuts) => {
        const written = encodeAll(records)
        const reading = await read(utf8.encode(written), cuts)
        expect(codesOf(reading.problems)).toEqual(['incomplete'])
        expect(recordsOf(reading)).toEqual(records)
        expect(encodeAll(recordsOf(reading))).toBe(written)
      }),
      { numRuns: runs(300) },
    )
  })

  it('keeps a message 20,000 levels deep', async () => {
    const raw = `{"jsonrpc":"2.0","method":"m","params":${'{"a":['.repeat(10_000)}${']}'.repeat(10_000)}}`
    const [, record] = recordsOf(await read(metaLine + messageLine(raw) + endLine))
    expect(record).toMatchObject({ raw })
    expect(encodeRecord(record!)).toBe(messageLine(raw))
  })
})

describe('any bytes', () => {
  const small = utf8.encode(
    `${golden('every-member.jsonl').split('\n').slice(0, 2).join('\n')}\n${golden('unknown.jsonl').split('\n').slice(3, 6).join('\n')}\n${endLine}`,
  )

  it('a tape cut off anywhere gives its whole lines', async () => {
    const ends = [...small.keys()].filter((i) => small[i] === 0x0a)
    for (let length = 1; length < small.length; length += 1) {
      const reading = await readAny(small.subarray(0, length))
      const whole = ends.filter((at) => at < length).length
      const complete = ends.includes(length)
      if (reading instanceof WiretapeError) expect([whole, reading.code]).toEqual([0, 'not-a-recording'])
      else expect(reading.lines).toHaveLength(whole + (complete ? 1 : 0))
    }
  })

  it('a flipped bit gives records and diagnostics, or a refusal', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: small.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (at, mask) => {
          const bytes = small.slice()
          bytes[at] = bytes[at]! ^ mask
          const reading = await readAny(bytes)
          if (!(reading instanceof WiretapeError)) encodeAll(recordsOf(reading))
        },
      ),
      { numRuns: runs(1500) },
    )
  })

  it('arbitrary bytes and lines do too', async () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 30 }),
      fc
        .constantFrom(metaLine, endLine, messageLine('[]'), '\n', '{"type":', '"', '\ufeff')
        .map((t) => utf8.encode(t)),
      fc.json().map((json) => utf8.encode(`${json}\n`)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
        const bytes = Uint8Array.from(pieces.flatMap((bytes) => [...bytes]))
        detectFormat(bytes)
        await readAny(bytes)
      }),
      { numRuns: runs(500) },
    )
  })

  it('any JSON for any member gives a line or a fault, and what is read can be written and read again', () => {
    const names =
      'v type t dir raw id seq us corr late dup linked batch eol bytes conv startedAt label command wiretape ' +
      'lost text why exitCode x modified original red session'
    const name = fc.constantFrom(...names.split(' '))
    const value = fc.oneof(
      fc.json(),
      fc.constantFrom(
        '1',
        '"in"',
        '"meta"',
        '"end"',
        '"gap"',
        '[{}]',
        '"a"',
        'true',
        '1e999',
        '[{"kind":"task","to":"a"}]',
      ),
      fc.constantFrom('{"session":"s","segment":-1,"transport":"x"}', '{"messages":"x"}'),
    )
    const line = fc.array(fc.tuple(name, value), { maxLength: 9 })
    fc.assert(
      fc.property(line, (members) => {
        const decoded = decodeLine(`{${members.map(([n, v]) => `"${n}":${v}`).join(',')}}`)
        if ('fault' in decoded) return
        const written = encodeRecord(decoded.record)
        const again = decodeLine(written.trimEnd())
        expect(again).toHaveProperty('record')
        expect('record' in again && encodeRecord(again.record)).toBe(written)
      }),
      { numRuns: runs(3000) },
    )
  })
})

describe('the offset index', () => {
  const report = (): void => undefined

  it('gives back the line of every row, elements of a batch too', async () => {
    const text = `\ufeff${golden('every-member.jsonl')}`
    const bytes = utf8.encode(text)
    const index = await indexTrace(chunksOf(bytes, [10, 500, 900]), report)
    const seen: string[] = []
    for (let row = 0; row < index.entries.length; row += 1) {
      const { offset, sizeBytes, part } = index.lineOf(row)
      const line = JSON.parse(new TextDecoder().decode(bytes.subarray(offset, offset + sizeBytes))) as {
        seq?: number
      }
      expect(index.entries.seq(row)).toBe(line.seq === undefined ? -1 : line.seq + part)
      seen.push(`${line.seq}+${part}`)
    }
    expect(seen).toContain('6+1')
    expect(() => index.lineOf(-1)).toThrow(RangeError)
    expect(() => index.lineOf(index.entries.length)).toThrow(RangeError)
  })

  it('gives back a first line that stands after a byte order mark', async () => {
    const bytes = utf8.encode(`\ufeff${messageLine(ping)}`)
    const index = await indexTrace(chunksOf(bytes), report)
    const { offset, sizeBytes } = index.lineOf(0)
    expect(new TextDecoder().decode(bytes.subarray(offset, offset + sizeBytes))).toBe(
      messageLine(ping).trimEnd(),
    )
  })

  it.runIf(isLong)('lists 1,000,000 messages without holding them', async () => {
    const messages = 1_000_000
    const per = 1000
    const lineOf = (i: number): string =>
      messageLine(`{"jsonrpc":"2.0","id":${i},"method":"ping"}`, `,"id":"u${i}","seq":${i}`)
    async function* tape(): AsyncIterable<Uint8Array> {
      yield utf8.encode(metaLine)
      for (let i = 0; i < messages; i += per) {
        let block = ''
        for (let j = i; j < i + per; j += 1) block += lineOf(j)
        yield utf8.encode(block)
      }
    }
    const before = heldBytes()
    const index = await indexTrace(tape(), report)
    expect((heldBytes() - before) / messages).toBeLessThan(100)
    expect(index.entries.length).toBe(messages)
    let offset = metaLine.length
    for (let i = 0; i < messages; i += 1) {
      const sizeBytes = lineOf(i).length - 1
      if (i % 99_991 === 0 || i === messages - 1)
        expect(index.lineOf(i)).toEqual({ offset, sizeBytes, part: 0 })
      offset += sizeBytes + 1
    }
  })
})
