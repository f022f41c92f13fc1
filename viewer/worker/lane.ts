import { PlainLineMessage, TraceScan, type PlainLine, type TraceLine } from '../../src/formats/index.js'
import {
  isFrameRecord,
  createFold,
  type Diagnostic,
  type HttpRecord,
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

/** The worker's data of a lane: its model and the positions of its lines. */
export class LaneIndex {
  readonly index: number
  readonly source: Source
  readonly #words: Words
  readonly #claim: () => number
  readonly #changed = new Set<number>()
  readonly fold = createFold(idKey, (row) => {
    const { entries } = this.fold
    // Includes new rows with one of these durations: their columns lack them.
    const us = entries.heldUs(row) + entries.waitedUs(row) + entries.taskUs(row)
    if (row < this.#sent || us > 0) this.#changed.add(row)
  })
  readonly #problems: Diagnostic[] = []
  #problemCount = 0
  #bytesRead = 0
  #sent = 0
  #isOver = false
  readonly #scan = new TraceScan(
    (problem) => {
      this.report(problem)
      if (brokenLine.has(problem.code)) this.#addBroken(problem)
    },
    (bytes, line, offset, sizeBytes) => this.#takePlain(bytes, line, offset, sizeBytes),
  )
  readonly #kept = new LaneRows()
  readonly #exchanges = createHttpExchanges()
  readonly #message = new PlainLineMessage()
  /** Start of the current session, in microseconds since 1970. */
  #began = 0
  /** There are few. */
  readonly #dropped = new Map<number, Dropped>()
  #sessions = 0
  /** Columns by local row. */
  readonly at = (local: number): number => this.#kept.columns.at[local]!
  readonly method = (local: number): number => this.#kept.columns.method[local]!
  readonly subject = (local: number): number => this.#kept.columns.subject[local]!
  readonly note = (local: number): number => this.#kept.columns.note[local]!
  /** Exact text; empty if there is none. */
  readonly id = (local: number): string =>
    idText(this.#kept.columns.id[local]!, (number) => this.#words.wordOf(number))
  readonly conversation = (local: number): number => this.#kept.columns.conversation[local]!
  readonly rule = (local: number): number => this.#kept.columns.rule[local]!
  /** 0 for none. */
  readonly httpStatus = (local: number): number => this.#kept.columns.httpStatus[local]!
  readonly isNote = (local: number): boolean => (this.#kept.columns.extra[local]! & extraFlag.note) !== 0
  /** Reason and time of a held message's drop. */
  readonly droppedOf = (local: number): Dropped | undefined => this.#dropped.get(local)
  /** The first row of the response of an HTTP exchange, in the session of a row; -1 for none. */
  readonly responseOf = (exchange: number, local: number): number => this.#exchanges.response(exchange, local)
  /** The first row of the request; otherwise as `responseOf`. */
  readonly requestOf = (exchange: number, local: number): number => this.#exchanges.requestOf(exchange, local)

  /** @param claim returns the next global row number */
  constructor(index: number, source: Source, words: Words, claim: () => number) {
    this.index = index
    this.source = source
    this.#words = words
    this.#claim = claim
  }

  /** Adds a problem of the file. */
  report(problem: Diagnostic): void {
    this.#problemCount += 1
    if (this.#problems.length < problemsKept) this.#problems.push(problem)
  }

  /** A broken line has a row too, at its position. */
  #addBroken(problem: Diagnostic): void {
    const us = this.fold.entries.length === 0 ? 0 : this.fold.entries.us(this.fold.entries.length - 1)
    const why = `line ${problem.at?.line ?? '?'} of the file is broken: ${problem.message}`
    this.#take({ record: { type: 'gap', t: '', us, lost: 1, why }, text: '', number: 0, ...this.#scan.place })
  }

  #take(line: TraceLine): void {
    const words = this.#words
    const { record } = line
    const { first, count } = this.fold.push(record.type === 'note' ? { ...record, type: 'stderr' } : record)
    if (record.type === 'meta' || this.fold.sessions.length > this.#sessions) {
      // A tape without its first line still has a session.
      this.#began = startOf(record.type === 'meta' ? record.startedAt : this.fold.sessions.at(-1)!.startedAt)
      if (this.fold.sessions.length > this.#sessions) this.#exchanges.begin(this.fold.entries.length)
      this.#sessions = this.fold.sessions.length
    }
    if (record.type === 'dropped') {
      const { id, why, rule, us = Number.NaN } = record
      this.#dropped.set(this.fold.rowOf(id), {
        why,
        at: this.#began + us,
        ...(rule !== undefined && { rule }),
      })
    }
    if (count > 0 && first < this.#kept.length) {
      // A held message was forwarded: its new line contains the forwarded text, maybe of another tool.
      const kept = this.#kept.columns
      kept.offset.fill(line.offset, first, first + count)
      kept.lineSize.fill(line.sizeBytes, first, first + count)
      for (let part = 0; part < count; part += 1) this.#describe(first + part, record, part)
      return
    }
    for (let part = 0; part < count; part += 1) {
      const row = this.#addRow(line.offset, line.sizeBytes)
      this.#describe(row, record, part)
      const kept = this.#kept.columns
      kept.extra[row] = extraOf(record)
      kept.conversation[row] = words.numberOf(conversationOf(record))
      kept.rule[row] = words.numberOf('rule' in record ? (record.rule ?? '') : '')
      kept.httpStatus[row] = statusOf(record)
      if (record.type === 'note' && record.about !== undefined)
        this.#linkNote(row, this.fold.rowOf(record.about))
      if (record.type === 'http') this.#noteHttp(record, row)
      else if (isFrameRecord(record) && record.http)
        this.#exchanges.add(record.http.exchange, row, sideOf(record.direction === 'server_to_client'))
    }
  }

  #describe(row: number, record: TapeRecord, part: number): void {
    const kept = this.#kept.columns
    const words = this.#words
    const texts = textsOf(record, part, this.fold.entries.kind(row))
    kept.method[row] = words.numberOf(texts.method)
    kept.subject[row] = words.numberOf(texts.subject)
    kept.note[row] = words.numberOf(texts.note)
    kept.id[row] = idNumber(texts.id, (text) => words.numberOf(text))
  }

  /** A successful HTTP record is linked to its request; a failed one stays separate. */
  #noteHttp({ exchange, status, why }: HttpRecord, row: number): void {
    const sent = this.#exchanges.request(exchange)
    this.#exchanges.add(exchange, row, 'both')
    if (sent >= 0 && why === undefined && status !== undefined && status < 400)
      this.fold.entries.link(row, sent)
  }

  #linkNote(note: number, about: number): void {
    if (about >= 0) this.fold.entries.link(note, about)
  }

  /** Adds a row that the model already contains. */
  #addRow(offset: number, sizeBytes: number): number {
    const row = this.#kept.add()
    const kept = this.#kept.columns
    kept.global[row] = this.#claim()
    kept.offset[row] = offset
    kept.lineSize[row] = sizeBytes
    kept.at[row] = this.#began + this.fold.entries.us(row)
    return row
  }

  /** Most lines take this path, which allocates no objects. */
  #takePlain(bytes: Uint8Array, line: PlainLine, offset: number, sizeBytes: number): boolean {
    const words = this.#words
    const method = words.numberOfBytes(bytes, line.methodStart, line.methodEnd)
    this.#message.read(bytes, line, words.wordOf(method))
    if (this.fold.pushPlain(this.#message) < 0) return false
    const row = this.#addRow(offset, sizeBytes)
    const kept = this.#kept.columns
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
    if (line.httpExchange >= 0) this.#exchanges.add(line.httpExchange, row, sideOf(line.fromServer))
    return true
  }

  #globalOr(local: number): number {
    return local < 0 ? -1 : this.#kept.columns.global[local]!
  }

  get length(): number {
    return this.fold.entries.length
  }

  /** Takes the next bytes. */
  push(chunk: Uint8Array): void {
    this.#bytesRead += chunk.length
    this.#scan.push(chunk, (line) => this.#take(line))
  }

  end(): void {
    this.#scan.end((line) => this.#take(line))
    this.#isOver = true
  }

  /** Whether the lane was read to its end. */
  get isOver(): boolean {
    return this.#isOver
  }

  globalOf(local: number): number {
    return this.#kept.columns.global[local]!
  }

  word(number: number): string {
    return this.#words.wordOf(number)
  }

  /** As `placeOf`, without the part. */
  lineAt(local: number): { readonly offset: number; readonly sizeBytes: number } {
    return { offset: this.#kept.columns.offset[local]!, sizeBytes: this.#kept.columns.lineSize[local]! }
  }

  placeOf(local: number): { readonly offset: number; readonly sizeBytes: number; readonly part: number } {
    const { offset } = this.#kept.columns
    let first = local
    while (first > 0 && offset[first - 1] === offset[local]) first -= 1
    return { ...this.lineAt(local), part: local - first }
  }

  describe(): Omit<Lane, 'name' | 'file' | 'format' | 'state' | 'sizeBytes' | 'failure'> {
    return {
      index: this.index,
      sessions: this.fold.sessions,
      bytesRead: this.#bytesRead,
      problems: this.#problems,
      problemCount: this.#problemCount,
    }
  }

  /** Rows and changes since the previous call. */
  take(): { rows: Rows; changes: Changes } {
    const { entries } = this.fold
    const kept = this.#kept.columns
    const from = this.#sent
    const count = entries.length - from
    const rows = emptyRows(this.index, count === 0 ? 0 : kept.global[from]!, count)
    for (let i = 0; i < count; i += 1) {
      const row = from + i
      rows.kind[i] = entries.kindNumber(row)
      rows.flags[i] = entries.flags(row)
      rows.seq[i] = entries.seq(row)
      rows.size[i] = entries.size(row)
      rows.peer[i] = this.#globalOr(entries.peer(row))
      rows.linked[i] = this.#globalOr(entries.linked(row))
    }
    rows.at.set(kept.at.subarray(from, from + count))
    rows.method.set(kept.method.subarray(from, from + count))
    rows.subject.set(kept.subject.subarray(from, from + count))
    rows.note.set(kept.note.subarray(from, from + count))
    rows.id.set(kept.id.subarray(from, from + count))
    rows.extra.set(kept.extra.subarray(from, from + count))
    const old = Int32Array.from(this.#changed)
    const changes: Changes = {
      rows: old.map((row) => kept.global[row]!),
      kind: Uint8Array.from(old, (row) => entries.kindNumber(row)),
      flags: Uint32Array.from(old, (row) => entries.flags(row)),
      size: Uint32Array.from(old, (row) => entries.size(row)),
      method: Uint32Array.from(old, this.method),
      subject: Uint32Array.from(old, this.subject),
      note: Uint32Array.from(old, this.note),
      id: Int32Array.from(old, (row) => kept.id[row]!),
      heldUs: Float64Array.from(old, (row) => entries.heldUs(row)),
      waitedUs: Float64Array.from(old, (row) => entries.waitedUs(row)),
      taskUs: Float64Array.from(old, (row) => entries.taskUs(row)),
      peer: old.map((row) => this.#globalOr(entries.peer(row))),
    }
    this.#changed.clear()
    this.#sent = entries.length
    return { rows: { ...rows, strings: this.#words.takeNew() }, changes }
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
    flags: new Uint32Array(count),
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
