import {
  entryFlag,
  entryKinds,
  isFrameRecord,
  isLoneRecord,
  loneFacts,
  type Fold,
  type Session,
  type MessageRecord,
  type HeldRecord,
  type TapeRecord,
  type Rows,
} from '../../model/index.js'
import { createByteTexts } from '../byte-texts.js'
import { cellOf, Ints, Names, noBoolean, noInt, Numbers, Texts, type ColumnValues } from './column-values.js'
import type { LinePlace, PlainRow, PlainWatcher } from '../quick-load.js'
import { LineTimes, timeOf } from './line-times.js'
import { noCells, type Cells, type ColumnType } from './parquet-table.js'

/** Columns of an index. Values shared by all rows of a session are in the session's row. */
export const rowColumns = {
  session_number: 'int',
  seq: 'int',
  time_ms: 'double',
  offset_ms: 'double',
  direction: 'text',
  kind: 'text',
  method: 'text',
  subject: 'text',
  id: 'text',
  answers: 'int',
  latency_ms: 'double',
  waited_ms: 'double',
  held_ms: 'double',
  error_code: 'text',
  error_message: 'text',
  is_error: 'boolean',
  conversation: 'text',
  http_status: 'int',
  modified: 'boolean',
  injected: 'boolean',
  dropped: 'boolean',
  cancelled: 'boolean',
  size_bytes: 'double',
  file: 'int',
  payload_start: 'double',
  payload_end: 'double',
  text: 'text',
  row: 'int',
  peer_row: 'int',
} as const satisfies Record<string, ColumnType>

export type RowColumn = keyof typeof rowColumns
const names = Object.keys(rowColumns) as RowColumn[]

/** Interned names of methods, tools and conversations. */
const texts = createByteTexts()

/**
 * The rows of one recording as SQL columns. For most payloads, only the place in the tape is stored. Payloads that are no
 * unchanged piece of a tape's line (other formats, batches, rare lines) are kept as text.
 */
export class RowColumns implements PlainWatcher {
  readonly #fold: Fold
  readonly #recording: string
  readonly #paths: readonly string[]
  readonly #times = new LineTimes()
  #lastFile = 0
  /** By row. */
  readonly #session = new Ints(-1)
  readonly #timeMs = new Numbers()
  readonly #method = new Names()
  readonly #subject = new Names()
  readonly #id = new Texts()
  readonly #errorCode = new Names()
  readonly #errorMessage = new Texts()
  readonly #conversation = new Names()
  readonly #status = new Ints(noInt)
  /** Index of the file in the recording. */
  readonly #file = new Ints(noInt)
  readonly #start = new Numbers()
  readonly #end = new Numbers()
  readonly #text = new Texts()

  /**
   * @param recording name for users
   * @param paths of its files
   */
  constructor(fold: Fold, recording: string, paths: readonly string[]) {
    this.#fold = fold
    this.#recording = recording
    this.#paths = paths
  }

  plain(message: PlainRow, row: number, place: LinePlace): void {
    const { bytes, line } = message
    this.#place(row, this.#times.at(bytes, line.timeStart, line.timeEnd))
    this.#method.set(row, message.method)
    this.#subject.set(row, message.subject)
    if (line.rpcIdStart >= 0) this.#id.setBytes(row, bytes, line.rpcIdStart, line.rpcIdEnd)
    if (line.codeStart >= 0) this.#errorCode.set(row, texts.at(bytes, line.codeStart, line.codeEnd))
    if (line.messageStart >= 0) this.#errorMessage.setBytes(row, bytes, line.messageStart, line.messageEnd)
    this.#conversation.set(row, message.conversation)
    this.#status.set(row, intOf(line.httpStatus || undefined))
    this.#file.set(row, this.#fileNumber(place.path))
    // Both offsets are relative to the same chunk, which begins elsewhere in the file.
    const lineStart = line.timeStart - tapeHead
    this.#start.set(row, place.offset + line.rawStart - lineStart)
    this.#end.set(row, place.offset + line.rawEnd - lineStart)
  }

  take(record: TapeRecord, { first }: Rows): void {
    if (isFrameRecord(record)) return this.#frame(record, first)
    if (!isLoneRecord(record)) return
    const { text, summary } = loneFacts(record)
    this.#other(first, record.t, text ?? summary)
    if (record.type !== 'http') return
    this.#method.set(first, record.method)
    this.#subject.set(first, record.path)
    this.#conversation.set(first, record.conversation)
    this.#status.set(first, intOf(record.status))
  }

  get length(): number {
    return this.#fold.entries.length
  }

  #frame(record: MessageRecord | HeldRecord, first: number): void {
    record.parts.forEach(({ envelope, start, end }, i) => {
      const row = first + i
      this.#other(row, record.t, record.raw.slice(start, end))
      this.#method.set(row, envelope.method)
      this.#subject.set(row, envelope.subject)
      this.#id.set(row, envelope.id)
      this.#errorCode.set(row, envelope.errorCode)
      this.#errorMessage.set(row, envelope.errorMessage)
      this.#conversation.set(row, record.conversation)
      this.#status.set(row, intOf(record.http?.status))
    })
  }

  /** A row may be one that was held before: it loses its earlier values. */
  #other(row: number, t: string, text: string): void {
    this.#place(row, timeOf(t))
    for (const column of [this.#method, this.#subject, this.#errorCode, this.#conversation])
      column.set(row, undefined)
    this.#id.set(row, undefined)
    this.#errorMessage.set(row, undefined)
    this.#status.set(row, noInt)
    this.#file.set(row, noInt)
    this.#start.set(row, Number.NaN)
    this.#end.set(row, Number.NaN)
    this.#text.set(row, text)
  }

  #place(row: number, timeMs: number | undefined): void {
    this.#session.set(row, this.#fold.sessions.length - 1)
    this.#timeMs.set(row, timeMs ?? Number.NaN)
  }

  /** Rows from `from` to before `to`, by column. */
  cells(from: number, to: number): Cells<RowColumn> {
    const values = this.values(from, to)
    const cells = noCells(rowColumns)
    for (const name of names) for (let i = 0; i < to - from; i += 1) cells[name].push(cellOf(values[name], i))
    return cells
  }

  /**
   * Rows from `from` to before `to`, by column, for programs that read whole columns.
   *
   * @param to in the same group of `rowsInGroup` rows
   */
  values(from: number, to: number): Record<RowColumn, ColumnValues> {
    const count = to - from
    const { method, subject, ...filled } = this.#derived(from, count)
    const ints = (at: Int32Array): ColumnValues => ({ kind: 'ints', at })
    const doubles = (at: Float64Array): ColumnValues => ({ kind: 'doubles', at })
    return {
      session_number: ints(this.#session.rows(from, to)),
      ...filled,
      method: { kind: 'names', at: method, texts: this.#method.texts },
      subject: { kind: 'names', at: subject, texts: this.#subject.texts },
      id: this.#id.rows(from, to),
      error_code: this.#errorCode.rows(from, to),
      error_message: this.#errorMessage.rows(from, to),
      conversation: this.#conversation.rows(from, to),
      http_status: ints(this.#status.rows(from, to)),
      file: ints(this.#file.rows(from, to)),
      payload_start: doubles(this.#start.rows(from, to)),
      payload_end: doubles(this.#end.rows(from, to)),
      text: this.#text.rows(from, to),
    }
  }

  /** Columns computed from the fold: a later row may change them. */
  #derived(from: number, count: number) {
    const { entries } = this.#fold
    const ints = () => new Int32Array(count).fill(noInt)
    const doubles = () => new Float64Array(count).fill(Number.NaN)
    const booleans = () => new Uint8Array(count)
    const [seq, answers, peerRow, row] = [ints(), ints(), ints(), ints()]
    const [timeMs, offsetMs, latencyMs, waitedMs] = [doubles(), doubles(), doubles(), doubles()]
    const [heldMs, sizeBytes] = [doubles(), doubles()]
    const [isError, modified, injected] = [booleans().fill(noBoolean), booleans(), booleans()]
    const [dropped, cancelled] = [booleans(), booleans()]
    const [kind, direction, method, subject] = [ints(), ints(), ints(), ints()]
    for (let i = 0; i < count; i += 1) {
      const at = from + i
      const number = entries.kindNumber(at)
      const flags = entries.flags(at)
      const peer = entries.peer(at)
      // For a response row: its request, which holds the method.
      const isResponse = number === resultKind || number === errorKind
      const request = isResponse ? peer : -1
      const named = request < 0 ? at : request
      kind[i] = number
      direction[i] = undirected[number] ? -1 : (flags & entryFlag.fromServer) === 0 ? 0 : 1
      seq[i] = seqOf(entries.seq(at))
      row[i] = at
      if (peer >= 0) peerRow[i] = peer
      method[i] = this.#method.code(named)
      subject[i] = this.#subject.code(named)
      sizeBytes[i] = entries.size(at)
      if ((flags & entryFlag.untimed) === 0) {
        timeMs[i] = this.#timeMs.at(at)
        offsetMs[i] = entries.us(at) / 1_000
      }
      if (request >= 0) {
        answers[i] = seqOf(entries.seq(request))
        const us = entries.latencyUs(at)
        if (us !== undefined) {
          latencyMs[i] = us / 1_000
          waitedMs[i] = entries.waitedUs(at) / 1_000
        }
      }
      if (isResponse) isError[i] = isFailure(number, flags) ? 1 : 0
      if ((flags & entryFlag.held) !== 0) heldMs[i] = entries.heldUs(at) / 1_000
      modified[i] = (flags & entryFlag.modified) === 0 ? 0 : 1
      injected[i] = (flags & entryFlag.injected) === 0 ? 0 : 1
      dropped[i] = (flags & entryFlag.dropped) === 0 ? 0 : 1
      const answerFlags = !isResponse && peer >= 0 ? entries.flags(peer) : 0
      cancelled[i] = ((flags & entryFlag.cancelled) | (answerFlags & entryFlag.taskCancelled)) === 0 ? 0 : 1
    }
    return {
      seq: { kind: 'ints', at: seq },
      time_ms: { kind: 'doubles', at: timeMs },
      offset_ms: { kind: 'doubles', at: offsetMs },
      direction: { kind: 'names', at: direction, texts: directions },
      kind: { kind: 'names', at: kind, texts: entryKinds },
      method,
      subject,
      answers: { kind: 'ints', at: answers },
      latency_ms: { kind: 'doubles', at: latencyMs },
      waited_ms: { kind: 'doubles', at: waitedMs },
      held_ms: { kind: 'doubles', at: heldMs },
      is_error: { kind: 'booleans', at: isError },
      modified: { kind: 'booleans', at: modified },
      injected: { kind: 'booleans', at: injected },
      dropped: { kind: 'booleans', at: dropped },
      cancelled: { kind: 'booleans', at: cancelled },
      size_bytes: { kind: 'doubles', at: sizeBytes },
      row: { kind: 'ints', at: row },
      peer_row: { kind: 'ints', at: peerRow },
    } as const satisfies Partial<Record<RowColumn, ColumnValues | Int32Array>>
  }

  /** Values shared by all rows of a session, which hold them too in an index of recordings. */
  facts(): SessionFacts[] {
    const messages = this.#fold.sessions.map(() => 0)
    const errors = [...messages]
    const { entries } = this.#fold
    for (let row = 0; row < this.length; row += 1) {
      const session = this.#session.at(row)
      if (session < 0 || seqOf(entries.seq(row)) === noInt) continue
      messages[session]! += 1
      const number = entries.kindNumber(row)
      if (isFailure(number, entries.flags(row))) errors[session]! += 1
    }
    return this.#fold.sessions.map((session, i) => ({
      ...sessionFacts(session, this.#recording),
      messages: messages[i],
      errors: errors[i],
    }))
  }

  /** The facts of each session as JSON, without the numbers of messages and errors. */
  sessions(): string[] {
    return this.#fold.sessions.map((session) => factsText(sessionFacts(session, this.#recording)))
  }

  #fileNumber(path: string): number {
    return path === this.#paths[this.#lastFile]
      ? this.#lastFile
      : (this.#lastFile = this.#paths.indexOf(path))
  }
}

/** Length of `{"t":"`, the start of a plain line. */
const tapeHead = 6

const directions = ['client_to_server', 'server_to_client'] as const
const [resultKind, errorKind] = [entryKinds.indexOf('result'), entryKinds.indexOf('error')]

/** As `isErrorAnswer`, for held and dropped responses too. */
function isFailure(kind: number, flags: number): boolean {
  if (kind !== resultKind && kind !== errorKind) return false
  const isWrong = kind === errorKind || (flags & (entryFlag.toolError | entryFlag.taskFailed)) !== 0
  return isWrong && (flags & entryFlag.repeated) === 0
}

/** By number of the kind. */
const undirected = entryKinds.map((kind) => kind === 'gap' || kind === 'http')

/** `noInt` for rows without a message, and for numbers that no recorder assigns. */
function seqOf(seq: number): number {
  return seq < 0 || seq > 0x7fff_ffff ? noInt : seq
}

/** `noInt` for a value that the column cannot hold. */
function intOf(value: number | undefined): number {
  return value !== undefined && (value | 0) === value ? value : noInt
}

export type SessionFacts = Readonly<Record<string, unknown>>

function sessionFacts(session: Session, recording: string): SessionFacts {
  const { id, label, transport, command, url, startedAt, endedAt, durationMs, exitCode, signal, error } =
    session
  const { complete, protocolVersion, redaction, server, client } = session
  return {
    recording,
    session: id,
    label,
    server: server && `${server.name} ${server.version}`.trimEnd(),
    client: client && `${client.name} ${client.version}`.trimEnd(),
    transport,
    command: command.join(' '),
    url,
    startedAt,
    endedAt,
    durationMs,
    exitCode,
    signal,
    error,
    complete,
    protocolVersion,
    redaction,
  }
}

/** The facts as JSON. */
export function factsText(facts: SessionFacts): string {
  return JSON.stringify(facts, (_, value: unknown) =>
    // Engines reject JSON with half a surrogate pair, which would make every session unreadable.
    typeof value === 'string' ? Buffer.from(value).toString() : value,
  )
}
