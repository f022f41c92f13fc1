import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeLine } from '../../src/formats/index.js'
import type { MetaRecord, TapeRecord } from '../../src/model/index.js'
import { Journal, startTape, type JournalOptions, type JournalReport } from '../../src/tape/index.js'
import { readEnvelope } from '../../src/wire/index.js'
import { MemoryDisk } from './memory-disk.js'
import { runs } from '../long.js'

const meta: MetaRecord = {
  type: 'meta',
  startedAt: '2026-01-01T00:00:00.000Z',
  label: 'l',
  command: ['s'],
  wiretape: {
    version: '0',
    session: 'S',
    transport: 'stdio',
    url: null,
    segment: 0,
    redaction: 'none',
    metadata: [],
  },
}
/** Larger than the journal's reserve for its last lines. */
const plenty = 200_000

interface Bench {
  memory: MemoryDisk
  journal: Journal
  /** Milliseconds pass. */
  wait: (ms: number) => void
  close: () => JournalReport
}

function start(options: Partial<JournalOptions> = {}, memory = new MemoryDisk()): Bench {
  let us = 0
  const strict = options.strict === true
  const file = startTape('/tapes', meta, { disk: memory.disk, strict })
  const journal = new Journal(file, meta, { ...options, disk: memory.disk, now: () => ({ t: 'now', us }) })
  return {
    memory,
    journal,
    wait: (ms) => void (us += ms * 1000),
    close: () => journal.close({ t: 'end', exitCode: 0, durationMs: 1, wiretape: {} }),
  }
}

let number = 0
function message(size = 100): TapeRecord {
  const raw = `{"jsonrpc":"2.0","method":"${'m'.repeat(size)}"}`
  const part = { id: `id-${number++}`, envelope: readEnvelope(raw, 0), start: 0, end: raw.length }
  return {
    type: 'message',
    t: 't',
    direction: 'client_to_server',
    raw,
    batch: false,
    parts: [part],
    seq: number,
  }
}
const noise = (): TapeRecord => ({ type: 'noise', t: 't', direction: 'server_to_client', text: 'n' })
const stderr = (): TapeRecord => ({ type: 'stderr', t: 't', text: 'e' })

/** The records of a file; fails unless it is whole lines from the first to the last byte, a meta line first. */
function recordsIn(memory: MemoryDisk, path: string): TapeRecord[] {
  const text = memory.text(path)
  expect(text.endsWith('\n')).toBe(true)
  const records = text
    .slice(0, -1)
    .split('\n')
    .map((line) => {
      const decoded = decodeLine(line)
      if (!('record' in decoded)) throw new Error(`${decoded.fault.message}: ${line}`)
      return decoded.record
    })
  expect(records[0]?.type).toBe('meta')
  return records
}

function tapeIn(memory: MemoryDisk): TapeRecord[] {
  return memory.paths.filter((path) => path.endsWith('.jsonl')).flatMap((path) => recordsIn(memory, path))
}

function holds(records: readonly TapeRecord[]): {
  here: number
  told: number
  stderr: number
  stderrTold: number
} {
  const sum = { here: 0, told: 0, stderr: 0, stderrTold: 0 }
  for (const record of records) {
    if (record.type === 'message') sum.here += record.parts.length
    if (record.type === 'noise') sum.here += 1
    if (record.type === 'stderr') sum.stderr += 1
    if (record.type === 'gap') {
      sum.told += record.lost
      sum.stderrTold += record.lostStderr ?? 0
    }
  }
  return sum
}

const typesOf = (records: readonly TapeRecord[]): string => records.map(({ type }) => type).join(' ')

describe('a journal', () => {
  it('writes lines in order between meta and end, and counts messages', () => {
    const { memory, journal, close } = start()
    journal.append([message(), noise(), stderr()])
    journal.append([])
    journal.append([message()])
    const report = close()
    expect(report).toEqual({ paths: memory.paths, messages: 2, gaps: 0, lost: 0 })
    expect(typesOf(tapeIn(memory))).toBe('meta message noise stderr message end')
    expect(tapeIn(memory).at(-1)).toMatchObject({ wiretape: { messages: 2 } })
    expect(memory.openFiles).toBe(0)
  })

  it('knows how far it is written, from segment to segment, also where the disk refuses some', () => {
    const { memory, journal, wait } = start({ maxBytes: 4_000 })
    const lastSegment = (): string =>
      memory.text(memory.paths.filter((path) => path.endsWith('.jsonl')).at(-1)!)
    for (let n = 0; n < 60; n += 1) {
      if (n === 20) memory.capacity = memory.paths.reduce((sum, path) => sum + memory.text(path).length, 150)
      if (n === 40) memory.capacity = Infinity
      journal.append([message(), noise()])
      wait(50)
      const text = lastSegment()
      expect(journal.end).toMatchObject({ sizeBytes: text.length, lines: text.split('\n').length - 1 })
    }
    expect(journal.end.segment).toBeGreaterThan(1)
    expect(start({ strict: true }).journal.end).toEqual({ segment: 0, sizeBytes: expect.any(Number) })
  })

  it('can be closed twice, and takes nothing afterwards', () => {
    const { journal, close } = start()
    expect(close()).toEqual(close())
    expect(() => journal.append([message()])).toThrow('closed')
  })

  it('writes only the published format when strict, and misses nothing that it has no place for', () => {
    const { memory, journal, close } = start({ strict: true })
    memory.fault = (operation) => (operation === 'write' ? 'EIO' : undefined)
    journal.append([noise(), stderr(), message()])
    memory.fault = () => undefined
    journal.append([noise(), message()])
    expect(close()).toMatchObject({ messages: 1, lost: 1 })
    expect(typesOf(tapeIn(memory))).toBe('meta message end')
  })

  it('does not copy the counts of the caller’s records into the wrong unit: lost bytes are bytes of the wire', () => {
    const { memory, journal, close } = start()
    memory.fault = (operation) => (operation === 'write' ? 'EIO' : undefined)
    journal.append([{ ...noise(), text: 'é' } as TapeRecord, stderr()])
    memory.fault = () => undefined
    close()
    expect(tapeIn(memory)[1]).toMatchObject({ type: 'gap', lost: 1, lostStderr: 1, lostBytes: 3 })
  })
})

describe('a full disk', () => {
  it('leaves a gap at once, in the room kept for it, and an end', () => {
    const { memory, journal, close } = start()
    memory.capacity = 66_500
    for (let i = 0; i < 20; i += 1) journal.append([message()])
    const told = recordsIn(memory, memory.paths[0]!)
    expect(told.at(-1)).toMatchObject({ type: 'gap', why: 'disk full' })
    const report = close()
    const records = tapeIn(memory)
    expect(records.at(-1)).toMatchObject({ type: 'end', wiretape: { messages: report.messages } })
    expect(report.trouble).toBe('disk full')
    expect(holds(records).here + holds(records).told).toBe(20)
    expect(report.lost).toBe(holds(records).told)
  })

  it('that gets room again is written to again, after one more gap', () => {
    const { memory, journal, close, wait } = start()
    memory.capacity = 66_500
    for (let i = 0; i < 20; i += 1) journal.append([message()])
    memory.capacity = Infinity
    journal.append([message()])
    wait(250)
    journal.append([message()])
    const report = close()
    const records = tapeIn(memory)
    expect(typesOf(records.slice(-4))).toBe('gap gap message end')
    expect(report).toMatchObject({ gaps: 2, lost: holds(records).told })
    expect(holds(records).here + holds(records).told).toBe(22)
  })

  it.each([
    ['ENOSPC', 'disk full', true],
    ['EDQUOT', 'disk quota exceeded', true],
    ['EIO', 'disk error EIO', false],
  ])('is told from other trouble: %s', (code, reason, isFull) => {
    const { memory, journal } = start()
    expect(journal.stopped).toBeUndefined()
    memory.fault = (operation) => (operation === 'write' ? code : undefined)
    journal.append([message()])
    expect(journal.stopped).toEqual({ reason, isFull })
  })

  it('from the start lets no tape begin, and leaves no empty file', () => {
    const memory = new MemoryDisk()
    memory.capacity = 20
    expect(() => startTape('/tapes', meta, { disk: memory.disk })).toThrow(
      expect.objectContaining({ code: 'unwritable', message: 'cannot create a tape in /tapes: disk full' }),
    )
    expect(memory.paths).toEqual([])
    expect(memory.openFiles).toBe(0)
  })

  it('where not even the gap fits gets no end that would make the tape look whole', () => {
    const { memory, journal, close } = start()
    memory.fault = (operation) => (operation === 'write' ? 'EIO' : undefined)
    journal.append([message()])
    const report = close()
    expect(report).toMatchObject({ messages: 0, lost: 1, trouble: 'disk error EIO' })
    expect(typesOf(tapeIn(memory))).toBe('meta')
  })

  it('with any room at all, byte by byte, leaves whole lines and true counts', () => {
    const full = 66_500
    for (let capacity = 65_500; capacity < full; capacity += 1) {
      const memory = new MemoryDisk()
      const bench = start({}, memory)
      memory.capacity = capacity
      for (let i = 0; i < 4; i += 1) bench.journal.append([message(50), stderr(), noise()])
      const report = bench.close()
      const records = tapeIn(memory)
      const sum = holds(records)
      expect(sum.here + sum.told).toBe(8)
      expect(sum.stderr + sum.stderrTold).toBe(4)
      expect(report.lost).toBe(sum.told)
      expect(records.at(-1)?.type).toBe('end')
    }
  })

  it('takes its reserve along when the folder cannot hold a new file, and goes on without one', () => {
    const { memory, journal, close, wait } = start()
    memory.fault = (operation) => (operation === 'write' ? 'EIO' : undefined)
    journal.append([message()])
    memory.fault = (operation) => (operation === 'open' ? 'ENOENT' : undefined)
    wait(250)
    journal.append([message()])
    expect(close()).toMatchObject({ messages: 1, lost: 1, gaps: 1 })
    expect(typesOf(tapeIn(memory))).toBe('meta gap message end')
  })
})

describe('rotation', () => {
  it('keeps every segment within maxBytes, end line included, and joins them by their numbers', () => {
    const { memory, journal, close } = start({ maxBytes: 2_000 })
    for (let i = 0; i < 50; i += 1) journal.append([message(), message()])
    const report = close()
    expect(report.messages).toBe(100)
    expect(report.paths).toEqual(memory.paths)
    expect(report.paths.length).toBeGreaterThan(5)
    report.paths.forEach((path, segment) => {
      expect(memory.text(path).length).toBeLessThanOrEqual(2_000)
      const records = recordsIn(memory, path)
      expect(records[0]).toMatchObject({ type: 'meta', wiretape: { session: 'S', segment } })
      const last = segment === report.paths.length - 1
      const { here: messages } = holds(records)
      expect(records.at(-1)).toMatchObject({
        type: 'end',
        wiretape: { messages, ...(!last && { rotated: true }) },
      })
    })
    expect(holds(tapeIn(memory)).here).toBe(100)
  })

  it('gives a record that is larger than maxBytes a segment of its own', () => {
    const { memory, journal, close } = start({ maxBytes: 1_000 })
    journal.append([message(10), message(5_000), message(10)])
    close()
    expect(memory.paths.map((path) => typesOf(recordsIn(memory, path)))).toEqual([
      'meta message end',
      'meta message end',
      'meta message end',
    ])
  })

  it('deletes the oldest beyond maxFiles, and goes on when one cannot be deleted', () => {
    const { memory, journal, close } = start({ maxBytes: 1_000, maxFiles: 2 })
    memory.fault = (operation, path) =>
      operation === 'unlink' && path.endsWith('l.1.jsonl') ? 'EPERM' : undefined
    for (let i = 0; i < 30; i += 1) journal.append([message()])
    const report = close()
    expect(report).toMatchObject({ messages: 30, lost: 0 })
    expect(report.paths).toHaveLength(2)
    expect(memory.paths).toHaveLength(3)
  })

  it('goes on in the old segment when a next one cannot be opened, and tries again later', () => {
    const { memory, journal, close, wait } = start({ maxBytes: 1_000 })
    let opened = 0
    memory.fault = (operation) => {
      if (operation !== 'open') return undefined
      opened += 1
      return 'EMFILE'
    }
    for (let i = 0; i < 30; i += 1) journal.append([message()])
    expect(opened).toBe(1)
    memory.fault = () => undefined
    wait(250)
    journal.append([message()])
    expect(close()).toMatchObject({ messages: 31, lost: 0 })
    expect(memory.paths).toHaveLength(2)
    expect(holds(tapeIn(memory)).here).toBe(31)
  })

  it('leaves nothing of a next segment that got no meta line', () => {
    const { memory, journal, close } = start({ maxBytes: 1_000 })
    memory.fault = (operation, path) =>
      operation === 'write' && path.endsWith('.1.jsonl') ? 'EIO' : undefined
    for (let i = 0; i < 10; i += 1) journal.append([message()])
    expect(close().paths).toEqual(memory.paths)
    expect(memory.paths).toHaveLength(1)
  })
})

describe('a tape that is deleted while it is written', () => {
  it('goes on in a new segment that says what is gone', () => {
    const { memory, journal, close } = start()
    journal.append([message(), message(), stderr(), noise()])
    memory.remove(memory.paths[0]!)
    journal.append([message()])
    const report = close()
    expect(report.paths).toEqual(memory.paths)
    expect(report).toMatchObject({ messages: 1, gaps: 1, lost: 3 })
    const records = tapeIn(memory)
    expect(records[0]).toMatchObject({ wiretape: { segment: 1 } })
    expect(records[1]).toMatchObject({
      type: 'gap',
      lost: 3,
      lostStderr: 1,
      why: expect.stringContaining('removed'),
    })
  })

  it('and cannot be begun anew is counted as lost', () => {
    const { memory, journal, close } = start()
    journal.append([message()])
    memory.remove(memory.paths[0]!)
    memory.fault = (operation) => (operation === 'mkdir' ? 'EACCES' : undefined)
    journal.append([message()])
    expect(close()).toMatchObject({ paths: [], messages: 0, lost: 2 })
    expect(memory.openFiles).toBe(0)
  })
})

describe('whatever the disk does', () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant('append'), messages: fc.nat({ max: 5 }), size: fc.nat({ max: 400 }) }),
    fc.record({ kind: fc.constant('append'), messages: fc.nat({ max: 5 }), size: fc.nat({ max: 400 }) }),
    fc.record({ kind: fc.constant('wait'), ms: fc.nat({ max: 400 }) }),
    fc.record({ kind: fc.constant('room'), bytes: fc.nat({ max: 70_000 }) }),
    fc.record({ kind: fc.constant('plenty') }),
    fc.record({
      kind: fc.constant('faults'),
      list: fc.array(
        fc.option(fc.oneof(fc.constantFrom('EIO', 'ENOSPC', 'EACCES'), fc.integer({ min: 1, max: 60 })), {
          nil: undefined,
        }),
        { maxLength: 8 },
      ),
    }),
    fc.record({ kind: fc.constant('remove') }),
  )
  type Event = {
    kind: string
    messages?: number
    size?: number
    ms?: number
    bytes?: number
    list?: unknown[]
  }

  function play(
    events: readonly Event[],
    options: Partial<JournalOptions>,
    withRemoval: boolean,
    atEnd: 'room' | 'as is',
  ): void {
    const memory = new MemoryDisk()
    const bench = start(options, memory)
    let faults: (string | number | undefined)[] = []
    // Cutting off a torn line is what everything rests on; it has a test of its own.
    memory.fault = (operation) => {
      if (operation === 'truncate' || operation === 'unlink') return undefined
      const fault = faults.shift()
      return operation === 'write' || typeof fault === 'string' ? fault : undefined
    }
    let appended = 0
    for (const { kind, messages = 0, size = 0, ms = 0, bytes = 0, list = [] } of events) {
      if (kind === 'append') {
        bench.journal.append(
          Array.from({ length: messages }, (_, i) => (i % 3 === 2 ? noise() : message(size))),
        )
        appended += messages
      } else if (kind === 'wait') bench.wait(ms)
      else if (kind === 'room') memory.capacity = bytes
      else if (kind === 'plenty') memory.capacity = Infinity
      else if (kind === 'faults') faults = [...list] as typeof faults
      else if (withRemoval && memory.paths.length > 0) memory.remove(memory.paths.at(-1)!)
    }
    if (atEnd === 'room') {
      faults = []
      memory.capacity = Infinity
    }
    const report = bench.close()
    const records = tapeIn(memory)
    const { here, told } = holds(records)
    const ended = records.at(-1)?.type === 'end'
    expect(here + report.lost).toBe(appended)
    expect(report.messages).toBe(records.reduce((n, r) => n + (r.type === 'message' ? r.parts.length : 0), 0))
    expect(report.gaps).toBe(records.filter(({ type }) => type === 'gap').length)
    expect(report.paths).toEqual(memory.paths.filter((path) => path.endsWith('.jsonl')))
    // A tape that ends has told everything.
    if (ended) expect(told).toBe(report.lost)
    if (atEnd === 'room') expect(ended).toBe(true)
    expect(memory.openFiles).toBe(0)
    const ids = records.flatMap((r) => (r.type === 'message' ? [Number(r.parts[0]!.id!.slice(3))] : []))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  }

  const maxBytes = fc.option(fc.constantFrom(500, 1_000, 3_000), { nil: undefined })
  const optionsOf = (limit: number | undefined): Partial<JournalOptions> =>
    limit === undefined ? {} : { maxBytes: limit }

  it('the files are whole lines, and what is on them and what is told makes up what was appended', () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 25 }),
        maxBytes,
        fc.constantFrom('room', 'as is'),
        (events, limit, atEnd) => play(events, optionsOf(limit), false, atEnd),
      ),
      { numRuns: runs(1500) },
    )
  })

  it('also when the file is deleted meanwhile', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 25 }), fc.constantFrom('room', 'as is'), (events, atEnd) =>
        play(events, {}, true, atEnd),
      ),
      { numRuns: runs(1500) },
    )
  })

  it('a torn line that cannot be cut off at once is cut off before anything follows it', () => {
    const { memory, journal, close, wait } = start()
    let writes = 0
    memory.fault = (operation) => {
      if (operation === 'truncate') return 'EIO'
      if (operation !== 'write') return undefined
      writes += 1
      return writes === 1 ? 10 : 'EIO'
    }
    journal.append([message()])
    expect(memory.text(memory.paths[0]!).endsWith('\n')).toBe(false)
    memory.fault = () => undefined
    wait(250)
    journal.append([message()])
    close()
    expect(typesOf(tapeIn(memory))).toBe('meta gap message end')
  })
})

it('a journal with plenty of room asks for no more than its reserve', () => {
  const memory = new MemoryDisk()
  memory.capacity = plenty
  const { journal, close } = start({}, memory)
  journal.append([message()])
  expect(close()).toMatchObject({ messages: 1, lost: 0 })
})
