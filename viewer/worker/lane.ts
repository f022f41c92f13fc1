import { createTraceScan, type PlainLine, type TraceLine } from '../../src/formats/index.js'
import {
  isFrameRecord,
  createFold,
  type Diagnostic,
  type HttpRecord,
  type PlainMessage,
  type TapeRecord,
} from '../../src/model/index.js'
import { idKey } from '../../src/wire/index.js'
import { textsOf } from './describe.js'
import { createHttpExchanges } from './http-exchanges.js'
import { LaneRows } from './lane-rows.js'
import {
  extraFlag,
  idNumber,
  idNumberOfBytes,
  idText,
  startOf,
  type Changes,
  type Lane,
  type Rows,
} from './protocol.js'
import type { Source } from './source.js'
import { textAt, type Words } from './words.js'

/** The worker's data of a lane: its model and the positions of its lines. */
export interface LaneIndex {
  readonly index: number
  readonly source: Source
  readonly length: number
  /** Takes the next bytes. */
  push(chunk: Uint8Array): void
  end(): void
  /** Whether the lane was read to its end. */
  readonly isOver: boolean
  /** Adds a problem of the file. */
  report(this: void, problem: Diagnostic): void
  /** Rows and changes since the previous call. */
  take(): { rows: Rows; changes: Changes }
  describe(): Omit<Lane, 'name' | 'file' | 'format' | 'state' | 'sizeBytes' | 'failure'>
  globalOf(local: number): number
  placeOf(local: number): { readonly offset: number; readonly sizeBytes: number; readonly part: number }
  /** Columns by local row. */
  readonly at: (local: number) => number
  readonly method: (local: number) => number
  readonly subject: (local: number) => number
  readonly note: (local: number) => number
  /** Exact text; empty if there is none. */
  readonly id: (local: number) => string
  readonly conversation: (local: number) => number
  readonly rule: (local: number) => number
  /** 0 for none. */
  readonly httpStatus: (local: number) => number
  readonly isNote: (local: number) => boolean
  /** Reason and time of a held message's drop. */
  readonly droppedOf: (local: number) => Dropped | undefined
  /** The first row of the response of an HTTP exchange, in the session of a row; -1 for none. */
  readonly responseOf: (exchange: number, local: number) => number
  /** The first row of the request; otherwise as `responseOf`. */
  readonly requestOf: (exchange: number, local: number) => number
  word(number: number): string
  /** As `placeOf`, without the part. */
  lineAt(local: number): { readonly offset: number; readonly sizeBytes: number }
  readonly fold: ReturnType<typeof createFold>
}

export interface Dropped {
  readonly why: string
  readonly rule?: string
  /** Microseconds since 1970. */
  readonly at: number
}

const problemsKept = 200
/** Problems that cost a whole line, which gets a row. */
export const brokenLine: ReadonlySet<string> = new Set([
  'not-json',
  'not-an-object',
  'bad-type',
  'bad-message',
  'bad-meta',
  'not-utf8',
  'line-too-long',
])

/** @param claim returns the next global row number */
export function createLaneIndex(index: number, source: Source, words: Words, claim: () => number): LaneIndex {
  const changed = new Set<number>()
  const fold = createFold(idKey, (row) => {
    const { entries } = fold
    // Includes new rows with one of these durations: their columns lack them.
    const us = entries.heldUs(row) + entries.waitedUs(row) + entries.taskUs(row)
    if (row < sent || us > 0) changed.add(row)
  })
  const problems: Diagnostic[] = []
  let problemCount = 0
  let bytesRead = 0
  let sent = 0
  let isOver = false
  const scan = createTraceScan((problem) => {
    report(problem)
    if (brokenLine.has(problem.code)) addBroken(problem)
  }, takePlain)
  const kept = new LaneRows()
  const exchanges = createHttpExchanges()
  const message = new PlainView()
  /** Start of the current session, in microseconds since 1970. */
  let began = 0
  /** There are few. */
  const dropped = new Map<number, Dropped>()
  let sessions = 0

  function report(problem: Diagnostic): void {
    problemCount += 1
    if (problems.length < problemsKept) problems.push(problem)
  }

  /** A broken line has a row too, at its position. */
  function addBroken(problem: Diagnostic): void {
    const us = fold.entries.length === 0 ? 0 : fold.entries.us(fold.entries.length - 1)
    const why = `line ${problem.at?.line ?? '?'} of the file is broken: ${problem.message}`
    take({ record: { type: 'gap', t: '', us, lost: 1, why }, text: '', number: 0, ...scan.place })
  }

  function take(line: TraceLine): void {
    const { record } = line
    const { first, count } = fold.push(record.type === 'note' ? { ...record, type: 'stderr' } : record)
    if (record.type === 'meta' || fold.sessions.length > sessions) {
      // A tape without its first line still has a session.
      began = startOf(record.type === 'meta' ? record.startedAt : fold.sessions.at(-1)!.startedAt)
      if (fold.sessions.length > sessions) exchanges.begin(fold.entries.length)
      sessions = fold.sessions.length
    }
    if (record.type === 'dropped') {
      const { id, why, rule, us = Number.NaN } = record
      dropped.set(fold.rowOf(id), { why, at: began + us, ...(rule !== undefined && { rule }) })
    }
    if (count > 0 && first < kept.length) {
      // A held message was forwarded: its new line contains the forwarded text.
      kept.offset.fill(line.offset, first, first + count)
      kept.lineSize.fill(line.sizeBytes, first, first + count)
      return
    }
    for (let part = 0; part < count; part += 1) {
      const row = addRow(line.offset, line.sizeBytes)
      const texts = textsOf(record, part, fold.entries.kind(row))
      kept.method[row] = words.numberOf(texts.method)
      kept.subject[row] = words.numberOf(texts.subject)
      kept.note[row] = words.numberOf(texts.note)
      kept.id[row] = idNumber(texts.id, (text) => words.numberOf(text))
      kept.extra[row] = extraOf(record)
      kept.conversation[row] = words.numberOf(conversationOf(record))
      kept.rule[row] = words.numberOf('rule' in record ? (record.rule ?? '') : '')
      kept.httpStatus[row] = statusOf(record)
      if (record.type === 'note' && record.about !== undefined) noteAbout(row, fold.rowOf(record.about))
      if (record.type === 'http') noteHttp(record, row)
      else if (isFrameRecord(record) && record.http)
        exchanges.add(record.http.exchange, row, sideOf(record.direction === 'server_to_client'))
    }
  }

  /** A successful HTTP record is linked to its request; a failed one stays separate. */
  function noteHttp({ exchange, status, why }: HttpRecord, row: number): void {
    const sent = exchanges.request(exchange)
    exchanges.add(exchange, row, 'both')
    if (sent >= 0 && why === undefined && status !== undefined && status < 400) fold.entries.link(row, sent)
  }

  function noteAbout(note: number, about: number): void {
    if (about >= 0) fold.entries.link(note, about)
  }

  /** Adds a row that the model already contains. */
  function addRow(offset: number, sizeBytes: number): number {
    const row = kept.add()
    kept.global[row] = claim()
    kept.offset[row] = offset
    kept.lineSize[row] = sizeBytes
    kept.at[row] = began + fold.entries.us(row)
    return row
  }

  /** Most lines take this path, which allocates no objects. */
  function takePlain(bytes: Uint8Array, line: PlainLine, offset: number, sizeBytes: number): boolean {
    const method = words.numberOfBytes(bytes, line.methodStart, line.methodEnd)
    message.take(bytes, line, words.wordOf(method))
    if (fold.pushPlain(message) < 0) return false
    const row = addRow(offset, sizeBytes)
    kept.method[row] = method
    kept.subject[row] = words.numberOfBytes(bytes, line.subjectStart, line.subjectEnd)
    kept.note[row] = line.kind === 'error' ? words.numberOf(errorOf(bytes, line)) : 0
    kept.id[row] = idNumberOfBytes(bytes, line.rpcIdStart, line.rpcIdEnd, words)
    kept.extra[row] =
      (line.redacted ? extraFlag.redacted : 0) |
      (line.http ? extraFlag.http : 0) |
      (line.sse ? extraFlag.sse : 0)
    kept.conversation[row] = words.numberOfBytes(bytes, line.conversationStart, line.conversationEnd)
    kept.httpStatus[row] = line.httpStatus
    if (line.httpExchange >= 0) exchanges.add(line.httpExchange, row, sideOf(line.fromServer))
    return true
  }

  function globalOr(local: number): number {
    return local < 0 ? -1 : kept.global[local]!
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
    end() {
      scan.end(take)
      isOver = true
    },
    get isOver() {
      return isOver
    },
    report,
    globalOf: (local) => kept.global[local]!,
    at: (local) => kept.at[local]!,
    method: (local) => kept.method[local]!,
    subject: (local) => kept.subject[local]!,
    note: (local) => kept.note[local]!,
    id: (local) => idText(kept.id[local]!, (number) => words.wordOf(number)),
    conversation: (local) => kept.conversation[local]!,
    rule: (local) => kept.rule[local]!,
    httpStatus: (local) => kept.httpStatus[local]!,
    isNote: (local) => (kept.extra[local]! & extraFlag.note) !== 0,
    droppedOf: (local) => dropped.get(local),
    responseOf: (exchange, local) => exchanges.response(exchange, local),
    requestOf: (exchange, local) => exchanges.requestOf(exchange, local),
    word: (number) => words.wordOf(number),
    lineAt: (local) => ({ offset: kept.offset[local]!, sizeBytes: kept.lineSize[local]! }),
    placeOf(local) {
      let first = local
      while (first > 0 && kept.offset[first - 1] === kept.offset[local]) first -= 1
      return { offset: kept.offset[local]!, sizeBytes: kept.lineSize[local]!, part: local - first }
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
      const rows = emptyRows(index, count === 0 ? 0 : kept.global[from]!, count)
      for (let i = 0; i < count; i += 1) {
        const row = from + i
        rows.kind[i] = entries.kindNumber(row)
        rows.flags[i] = entries.flags(row)
        rows.seq[i] = entries.seq(row)
        rows.size[i] = entries.size(row)
        rows.peer[i] = globalOr(entries.peer(row))
        rows.linked[i] = globalOr(entries.linked(row))
      }
      rows.at.set(kept.at.subarray(from, from + count))
      rows.method.set(kept.method.subarray(from, from + count))
      rows.subject.set(kept.subject.subarray(from, from + count))
      rows.note.set(kept.note.subarray(from, from + count))
      rows.id.set(kept.id.subarray(from, from + count))
      rows.extra.set(kept.extra.subarray(from, from + count))
      const old = Int32Array.from(changed)
      const changes: Changes = {
        rows: old.map((row) => kept.global[row]!),
        kind: Uint8Array.from(old, (row) => entries.kindNumber(row)),
        flags: Uint16Array.from(old, (row) => entries.flags(row)),
        size: Uint32Array.from(old, (row) => entries.size(row)),
        heldUs: Float64Array.from(old, (row) => entries.heldUs(row)),
        waitedUs: Float64Array.from(old, (row) => entries.waitedUs(row)),
        taskUs: Float64Array.from(old, (row) => entries.taskUs(row)),
        peer: old.map((row) => globalOr(entries.peer(row))),
      }
      changed.clear()
      sent = entries.length
      return { rows: { ...rows, strings: words.takeNew() }, changes }
    },
  }
}

/** A plain line in the form that the model reads; one object serves all lines. */
class PlainView implements PlainMessage {
  kind: PlainMessage['kind'] = 'request'
  fromServer = false
  us = 0
  seq = 0
  sizeBytes = 0
  method = ''
  toolError = false
  bytes: Uint8Array = new Uint8Array(0)
  idStart = 0
  idEnd = 0
  corrStart = -1
  corrEnd = -1
  late = false
  conversationStart = -1
  conversationEnd = -1
  httpExchange = -1

  take(bytes: Uint8Array, line: PlainLine, method: string): void {
    this.kind = line.kind
    this.fromServer = line.fromServer
    this.us = line.us
    this.seq = line.seq
    this.sizeBytes = line.rawEnd - line.rawStart
    this.method = method
    this.toolError = line.toolError
    this.bytes = bytes
    this.idStart = line.idStart
    this.idEnd = line.idEnd
    this.corrStart = line.corrStart
    this.corrEnd = line.corrEnd
    this.late = line.late
    this.conversationStart = line.conversationStart
    this.conversationEnd = line.conversationEnd
    this.httpExchange = line.httpExchange
  }
}

function errorOf(bytes: Uint8Array, { codeStart, codeEnd, messageStart, messageEnd }: PlainLine): string {
  const code = codeStart < 0 ? '' : textAt(bytes, codeStart, codeEnd)
  return `${code} ${messageStart < 0 ? '' : textAt(bytes, messageStart, messageEnd)}`.trim()
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
    extra: new Uint8Array(count),
    strings: [],
  }
}

function conversationOf(record: TapeRecord): string {
  return isFrameRecord(record) || record.type === 'http' ? (record.conversation ?? '') : ''
}

const sideOf = (fromServer: boolean): 'request' | 'response' => (fromServer ? 'response' : 'request')

function statusOf(record: TapeRecord): number {
  if (record.type === 'http') return record.status ?? 0
  return isFrameRecord(record) ? (record.http?.status ?? 0) : 0
}

function extraOf(record: TapeRecord): number {
  if (record.type === 'note') return extraFlag.note
  if (!isFrameRecord(record)) return 0
  let extra = 0
  if (record.red) extra |= extraFlag.redacted
  if (record.http) extra |= extraFlag.http
  if (record.sse) extra |= extraFlag.sse
  return extra
}
