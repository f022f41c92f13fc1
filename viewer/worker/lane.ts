import { createTraceScan, type TraceLine } from '../../src/formats/index.js'
import { createFold, type Diagnostic, type TapeRecord } from '../../src/model/index.js'
import { idKey } from '../../src/wire/index.js'
import { createColumn } from './columns.js'
import { idOf, isFrame, methodOf, noteOf, subjectOf } from './describe.js'
import { extraFlag, idNumber, idText, type Changes, type Lane, type Rows } from './protocol.js'
import type { Source } from './source.js'
import type { Words } from './words.js'

/** What is kept of a lane in the worker: its model and the places of its lines. */
export interface LaneIndex {
  readonly index: number
  readonly source: Source
  readonly length: number
  /** Takes the next bytes. */
  push(chunk: Uint8Array): void
  end(): void
  /** What is new since this was asked last. */
  take(): { rows: Rows; changes: Changes }
  describe(): Omit<Lane, 'name' | 'format' | 'state' | 'sizeBytes' | 'failure'>
  globalOf(local: number): number
  placeOf(local: number): { readonly offset: number; readonly sizeBytes: number; readonly part: number }
  /** Columns by local row. */
  readonly at: (local: number) => number
  readonly method: (local: number) => number
  readonly subject: (local: number) => number
  readonly note: (local: number) => number
  /** Exact text; empty where there is none. */
  readonly id: (local: number) => string
  readonly conversation: (local: number) => number
  readonly rule: (local: number) => number
  /** 0 where there is none. */
  readonly httpStatus: (local: number) => number
  word(number: number): string
  /** As `placeOf`, without the part. */
  lineAt(local: number): { readonly offset: number; readonly sizeBytes: number }
  readonly fold: ReturnType<typeof createFold>
}

const problemsKept = 200
/** What costs a line of its own. */
const brokenLine = new Set([
  'not-json',
  'not-an-object',
  'bad-type',
  'bad-message',
  'bad-meta',
  'not-utf8',
  'line-too-long',
])

/** @param claim gives the next global row number */
export function createLaneIndex(index: number, source: Source, words: Words, claim: () => number): LaneIndex {
  const changed = new Set<number>()
  const fold = createFold(idKey, (row) => {
    // Also of a new one that was held: how long does not stand in its columns.
    if (row < sent || fold.entries.heldUs(row) > 0) changed.add(row)
  })
  const problems: Diagnostic[] = []
  let problemCount = 0
  let bytesRead = 0
  let sent = 0
  const scan = createTraceScan((problem) => {
    problemCount += 1
    if (problems.length < problemsKept) problems.push(problem)
    if (brokenLine.has(problem.code)) addBroken(problem)
  })
  const global = createColumn((n) => new Int32Array(n))
  const offset = createColumn((n) => new Float64Array(n))
  const lineSize = createColumn((n) => new Uint32Array(n))
  const at = createColumn((n) => new Float64Array(n))
  const method = createColumn((n) => new Uint32Array(n))
  const subject = createColumn((n) => new Uint32Array(n))
  const note = createColumn((n) => new Uint32Array(n))
  const id = createColumn((n) => new Int32Array(n))
  const extra = createColumn((n) => new Uint16Array(n))
  const conversation = createColumn((n) => new Uint32Array(n))
  const rule = createColumn((n) => new Uint32Array(n))
  const httpStatus = createColumn((n) => new Uint16Array(n))
  /** Microseconds since 1970 at which the running session began. */
  let began = 0

  /** A line that is none has a row too, where it stands. */
  function addBroken(problem: Diagnostic): void {
    const us = fold.entries.length === 0 ? 0 : fold.entries.us(fold.entries.length - 1)
    const why = `line ${problem.at?.line ?? '?'} of the file is broken: ${problem.message}`
    take({ record: { type: 'gap', t: '', us, lost: 1, why }, text: '', number: 0, ...scan.place })
  }

  function take(line: TraceLine): void {
    const { record } = line
    const { first, count } = fold.push(record)
    if (record.type === 'meta') began = (Date.parse(record.startedAt) || 0) * 1000
    if (count > 0 && first < global.length) {
      // A held message goes on: its line says now what was passed on.
      for (let row = first; row < first + count; row += 1) {
        offset.set(row, line.offset)
        lineSize.set(row, line.sizeBytes)
      }
      return
    }
    for (let part = 0; part < count; part += 1) {
      global.push(claim())
      offset.push(line.offset)
      lineSize.push(line.sizeBytes)
      at.push(began + fold.entries.us(first + part))
      method.push(words.numberOf(methodOf(record, part)))
      subject.push(words.numberOf(subjectOf(record, part)))
      note.push(words.numberOf(noteOf(record, part)))
      id.push(idNumber(idOf(record, part), (text) => words.numberOf(text)))
      extra.push(extraOf(record))
      conversation.push(words.numberOf(conversationOf(record)))
      rule.push(words.numberOf('rule' in record ? (record.rule ?? '') : ''))
      httpStatus.push(statusOf(record))
    }
  }

  function globalOr(local: number): number {
    return local < 0 ? -1 : global.get(local)
  }

  return {
    index,
    source,
    fold,
    get length() {
      return fold.entries.length
    },
    push(chunk) {
      bytesRead += chunk.length
      scan.push(chunk, take)
    },
    end: () => scan.end(take),
    globalOf: (local) => global.get(local),
    at: (local) => at.get(local),
    method: (local) => method.get(local),
    subject: (local) => subject.get(local),
    note: (local) => note.get(local),
    id: (local) => idText(id.get(local), (number) => words.wordOf(number)),
    conversation: (local) => conversation.get(local),
    rule: (local) => rule.get(local),
    httpStatus: (local) => httpStatus.get(local),
    word: (number) => words.wordOf(number),
    lineAt: (local) => ({ offset: offset.get(local), sizeBytes: lineSize.get(local) }),
    placeOf(local) {
      let first = local
      while (first > 0 && offset.get(first - 1) === offset.get(local)) first -= 1
      return { offset: offset.get(local), sizeBytes: lineSize.get(local), part: local - first }
    },
    describe: () => ({
      index,
      sessions: fold.sessions,
      bytesRead,
      problems,
      problemCount,
    }),
    take() {
      const { entries } = fold
      const from = sent
      const count = entries.length - from
      const rows = emptyRows(index, count === 0 ? 0 : global.get(from), count)
      for (let i = 0; i < count; i += 1) {
        const row = from + i
        rows.kind[i] = entries.kindNumber(row)
        rows.flags[i] = entries.flags(row)
        rows.seq[i] = entries.seq(row)
        rows.size[i] = entries.size(row)
        rows.peer[i] = globalOr(entries.peer(row))
        rows.linked[i] = globalOr(entries.linked(row))
      }
      rows.at.set(at.view().subarray(from))
      rows.method.set(method.view().subarray(from))
      rows.subject.set(subject.view().subarray(from))
      rows.note.set(note.view().subarray(from))
      rows.id.set(id.view().subarray(from))
      rows.extra.set(extra.view().subarray(from))
      const old = Int32Array.from(changed)
      const changes: Changes = {
        rows: old.map((row) => global.get(row)),
        kind: Uint8Array.from(old, (row) => entries.kindNumber(row)),
        flags: Uint16Array.from(old, (row) => entries.flags(row)),
        size: Uint32Array.from(old, (row) => entries.size(row)),
        heldUs: Float64Array.from(old, (row) => entries.heldUs(row)),
        peer: old.map((row) => globalOr(entries.peer(row))),
      }
      changed.clear()
      sent = entries.length
      return { rows: { ...rows, strings: words.takeNew() }, changes }
    },
  }
}

function emptyRows(lane: number, first: number, count: number): Rows {
  return {
    lane,
    first,
    count,
    kind: new Uint8Array(count),
    flags: new Uint16Array(count),
    at: new Float64Array(count),
    seq: new Int32Array(count),
    size: new Uint32Array(count),
    peer: new Int32Array(count),
    linked: new Int32Array(count),
    method: new Uint32Array(count),
    subject: new Uint32Array(count),
    note: new Uint32Array(count),
    id: new Int32Array(count),
    extra: new Uint16Array(count),
    strings: [],
  }
}

function conversationOf(record: TapeRecord): string {
  return isFrame(record) || record.type === 'http' ? (record.conversation ?? '') : ''
}

function statusOf(record: TapeRecord): number {
  if (record.type === 'http') return record.status ?? 0
  return isFrame(record) ? (record.http?.status ?? 0) : 0
}

function extraOf(record: TapeRecord): number {
  if (record.type !== 'message' && record.type !== 'held') return 0
  let extra = 0
  if (record.red) extra |= extraFlag.redacted
  if (record.http) extra |= extraFlag.http
  if (record.sse) extra |= extraFlag.sse
  return extra
}
