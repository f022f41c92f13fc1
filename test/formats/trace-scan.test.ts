import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TraceScan, readTraceLines, type TakePlain, type TraceLine } from '../../src/formats/index.js'
import { createFold, type Diagnostic, type EntryTable } from '../../src/model/index.js'
import { idKey } from '../../src/wire/index.js'
import { runs } from '../long.js'

const folder = join(import.meta.dirname, '../fixtures/trace-v1')
const fixtures = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))

const utf8 = new TextDecoder()

/** A tape as our recorder writes it, in characters of one to four bytes. */
const tape = [
  '{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":"a","command":[],"wiretape":{"version":"0.1.0","session":"s","transport":"stdio","url":null,"segment":0,"redaction":"defaults","metadata":{}}}',
  '{"t":"2026-08-01T10:00:00.001Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"}}},"id":"i0","seq":0,"us":1000}',
  '{"t":"2026-08-01T10:00:00.002Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"grüße","arguments":{"a":"∀ 🎞"},"_meta":{"progressToken":1}}},"id":"i1","seq":1,"us":2000}',
  '{"t":"2026-08-01T10:00:00.003Z","dir":"out","raw":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}},"id":"o1","seq":2,"us":3000,"linked":[{"kind":"progress","to":"i1"}]}',
  '{"t":"2026-08-01T10:00:00.004Z","dir":"out","raw":{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}},"id":"o2","corr":"i1","seq":3,"us":4000}',
  'broken',
  '{"t":"2026-08-01T10:00:00.005Z","dir":"in","raw":{"jsonrpc":"2.0","id":2.0,"method":"resources/read","params":{"uri":"x://y"}},"id":"i2","seq":4,"us":5000,"red":[{"at":"/params/uri","tag":"t"}]}',
  '{"t":"2026-08-01T10:00:00.006Z","dir":"out","raw":{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"nö"}},"id":"o3","corr":"i2","seq":5,"us":6000}',
  '{"t":"2026-08-01T10:00:00.007Z","dir":"out","raw":{"jsonrpc":"1.0"},"id":"o4","seq":6,"us":7000}',
  '{"t":"2026-08-01T10:00:00.007Z","dir":"in","raw":{"jsonrpc": "2.0", "method": "tools/call", "params": {"arguments": {"a": [1.5e3, null, {}, [], "\\u00e9\\n∀ 🎞"]}, "name": "plain"}, "id": "x"},"id":"i4","seq":7,"us":7100,"http":{"exchange":1,"status":200,"headers":[["a","b"]]},"conv":"c","sse":{"id":"1"}}',
  '{"t":"2026-08-01T10:00:00.007Z","dir":"out","raw":{"jsonrpc":"2.0","id":"x","result":{"resultType":"complete","isError":true}},"id":"o5","corr":"i4","late":true,"seq":8,"us":7200}',
  '{"t":"2026-08-01T10:00:00.007Z","dir":"in","raw":{"method":"subscriptions/listen","jsonrpc":"2.0","id":9},"id":"i5","seq":9,"us":7300}',
  '{"t":"2026-08-01T10:00:00.008Z","dir":"in","raw":{"jsonrpc":"2.0","id":"z","method":"tools/call","params":{"name":"new"}},"original":{"id":"i9"},"modified":true,"id":"i3","seq":10,"us":8000}',
  '{"type":"stderr","t":"2026-08-01T10:00:00.009Z","us":9000,"text":"ä line"}',
  '{"type":"undelivered","t":"2026-08-01T10:00:00.009Z","us":9000,"id":"o3","why":"gone"}',
  '{"t":"2026-08-01T10:00:01.000Z","type":"end","exitCode":0,"durationMs":1000,"wiretape":{"messages":8}}',
  '',
].join('\n')

interface Found {
  readonly rows: unknown[]
  readonly places: unknown[]
  readonly problems: Diagnostic[]
  readonly counts: unknown
}

function collect(
  entries: EntryTable,
  lines: readonly TraceLine[],
  problems: Diagnostic[],
  counts: unknown,
): Found {
  const rows = Array.from({ length: entries.length }, (_, row) => [
    entries.kind(row),
    entries.flags(row),
    entries.us(row),
    entries.seq(row),
    entries.size(row),
    entries.peer(row),
    entries.linked(row),
  ])
  const places = lines.map(({ offset, sizeBytes, number }) => ({ offset, sizeBytes, number }))
  return { rows, places, problems, counts }
}

async function usual(bytes: Uint8Array): Promise<Found> {
  const problems: Diagnostic[] = []
  const fold = createFold(idKey)
  const lines: TraceLine[] = []
  async function* source(): AsyncGenerator<Uint8Array> {
    yield bytes
  }
  for await (const line of readTraceLines(source(), (problem) => problems.push(problem))) {
    fold.push(line.record)
    lines.push(line)
  }
  return collect(fold.entries, lines, problems, fold.counts())
}

function quick(chunks: readonly Uint8Array[]): Found {
  const problems: Diagnostic[] = []
  const fold = createFold(idKey)
  const lines: TraceLine[] = []
  const scan = new TraceScan((problem) => problems.push(problem))
  const take = (line: TraceLine): void => {
    fold.push(line.record)
    lines.push(line)
  }
  for (const chunk of chunks) scan.push(chunk, take)
  scan.end(take)
  return collect(fold.entries, lines, problems, fold.counts())
}

/** As `quick`, with rows made without records if possible; returns how many were. */
function plain(chunks: readonly Uint8Array[]): Found & { readonly plain: number } {
  const problems: Diagnostic[] = []
  const fold = createFold(idKey)
  const places: unknown[] = []
  let count = 0
  const takePlain: TakePlain = (bytes, line, offset, sizeBytes) => {
    const { methodStart, methodEnd, rawStart, rawEnd } = line
    const method = methodStart < 0 ? '' : utf8.decode(bytes.subarray(methodStart, methodEnd))
    if (fold.pushPlain(Object.assign(line, { bytes, method, sizeBytes: rawEnd - rawStart })) < 0) return false
    places.push({ offset, sizeBytes })
    count += 1
    return true
  }
  const scan = new TraceScan((problem) => problems.push(problem), takePlain)
  const take = ({ record, offset, sizeBytes }: TraceLine): void => {
    fold.push(record)
    places.push({ offset, sizeBytes })
  }
  for (const chunk of chunks) scan.push(chunk, take)
  scan.end(take)
  return { ...collect(fold.entries, [], problems, fold.counts()), places, plain: count }
}

/** The value, or the error. */
function outcome(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return (error as Error).message
  }
}

function withoutNumbers({ places, ...rest }: Found): unknown {
  return { ...rest, places: places.map((place) => ({ ...(place as TraceLine), number: undefined })) }
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...at.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end))
}

describe('the quick way through a tape', () => {
  it.each(fixtures)('finds in %s what the usual way finds', async (name) => {
    const bytes = new Uint8Array(readFileSync(join(folder, name)))
    const expected = await usual(bytes).catch((error: Error) => error.message)
    const found = ((): unknown => {
      try {
        return quick([bytes])
      } catch (error) {
        return (error as Error).message
      }
    })()
    expect(found).toEqual(expected)
  })

  it('finds the same rows, places and problems wherever the bytes are cut', async () => {
    const bytes = new TextEncoder().encode(tape)
    const expected = await usual(bytes)
    expect(expected.rows).toHaveLength(12)
    expect(quick([bytes])).toEqual(expected)
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (at) => {
        expect(quick(cut(bytes, at))).toEqual(expected)
      }),
    )
  })

  it('says of invalid UTF-8 which line it is in, and reads the others', async () => {
    const bytes = new TextEncoder().encode(tape)
    bytes[bytes.indexOf(0x0a) + 40] = 0xff
    const expected = await usual(bytes)
    expect(expected.problems.map(({ code }) => code)).toContain('not-utf8')
    expect(quick([bytes])).toEqual(expected)
  })

  it('finds the same without records, for most lines', async () => {
    const bytes = new TextEncoder().encode(tape)
    const expected = withoutNumbers(await usual(bytes))
    const { plain: count, ...found } = plain([bytes])
    expect(withoutNumbers(found)).toEqual(expected)
    expect(count).toBe(4)
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (at) => {
        const { plain: _, ...again } = plain(cut(bytes, at))
        expect(withoutNumbers(again)).toEqual(expected)
      }),
    )
  })

  it('finds the same without records in whatever is left of a damaged tape', async () => {
    const bytes = new TextEncoder().encode(tape)
    const common = fc.constantFrom(...new TextEncoder().encode('"\\{}[]:,01e.-tfn \t\n'), 0xc3, 0xed, 0xf4)
    const damage = fc.array(fc.tuple(fc.nat({ max: bytes.length - 1 }), fc.oneof(common, fc.nat(255))), {
      minLength: 1,
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(damage, async (places) => {
        const damaged = bytes.slice()
        for (const [at, byte] of places) damaged[at] = byte
        const expected = await usual(damaged).then(withoutNumbers, (error: Error) => error.message)
        const found = outcome(() => {
          const { plain: _, ...rest } = plain([damaged])
          return withoutNumbers(rest)
        })
        expect(found).toEqual(expected)
      }),
      { numRuns: runs(400) },
    )
  })
})
