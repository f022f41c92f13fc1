import {
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
import { createByteTexts } from '../../wire/index.js'
import { cellOf, noInt, rowsInGroup, type ColumnValues } from './column-values.js'
import type { LinePlace, PlainRow, PlainWatcher } from '../quick-load.js'
import { DerivedColumns, isFailure, seqOf } from './derived-columns.js'
import { LineTimes, timeOf } from './line-times.js'
import { noCells, type Cells, type ColumnType } from './parquet-table.js'
import { RowStore } from './row-store.js'

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
  readonly #store: RowStore
  /** First row in the store. */
  readonly base: number
  #lastFile = 0

  /**
   * @param recording name for users
   * @param paths of its files
   * @param store with all recordings before this one
   */
  constructor(fold: Fold, recording: string, paths: readonly string[], store = new RowStore()) {
    this.#fold = fold
    this.#recording = recording
    this.#paths = paths
    this.#store = store
    this.base = store.length
  }

  plain(message: PlainRow, row: number, place: LinePlace): void {
    const { bytes, line } = message
    const store = this.#store
    const at = this.base + row
    this.#place(at, this.#times.at(bytes, line.timeStart, line.timeEnd))
    store.method.set(at, message.method)
    if (line.subjectStart >= 0) store.subject.set(at, message.subject)
    if (line.rpcIdStart >= 0) store.id.setBytes(at, bytes, line.rpcIdStart, line.rpcIdEnd)
    if (line.codeStart >= 0) store.errorCode.set(at, texts.at(bytes, line.codeStart, line.codeEnd))
    if (line.messageStart >= 0) store.errorMessage.setBytes(at, bytes, line.messageStart, line.messageEnd)
    if (line.conversationStart >= 0) store.conversation.set(at, message.conversation)
    if (line.httpStatus > 0) store.status.set(at, intOf(line.httpStatus))
    store.file.set(at, this.#fileNumber(place.path))
    // Both offsets are relative to the same chunk, which begins elsewhere in the file.
    const lineStart = line.timeStart - tapeHead
    store.start.set(at, place.offset + line.rawStart - lineStart)
    store.end.set(at, place.offset + line.rawEnd - lineStart)
  }

  take(record: TapeRecord, { first }: Rows): void {
    if (isFrameRecord(record)) return this.#frame(record, this.base + first)
    if (!isLoneRecord(record)) return
    const { text, summary } = loneFacts(record)
    const store = this.#store
    const at = this.base + first
    this.#other(at, record.t, text ?? summary)
    if (record.type !== 'http') return
    store.method.set(at, record.method)
    store.subject.set(at, record.path)
    store.conversation.set(at, record.conversation)
    store.status.set(at, intOf(record.status))
  }

  get length(): number {
    return this.#fold.entries.length
  }

  #frame(record: MessageRecord | HeldRecord, first: number): void {
    const store = this.#store
    record.parts.forEach(({ envelope, start, end }, i) => {
      const at = first + i
      this.#other(at, record.t, record.raw.slice(start, end))
      store.method.set(at, envelope.method)
      store.subject.set(at, envelope.subject)
      store.id.set(at, envelope.id)
      store.errorCode.set(at, envelope.errorCode)
      store.errorMessage.set(at, envelope.errorMessage)
      store.conversation.set(at, record.conversation)
      store.status.set(at, intOf(record.http?.status))
    })
  }

  /** A row may be one that was held before: it loses its earlier values. */
  #other(at: number, t: string, text: string): void {
    const store = this.#store
    this.#place(at, timeOf(t))
    for (const column of [store.method, store.subject, store.errorCode, store.conversation])
      column.set(at, undefined)
    store.id.set(at, undefined)
    store.errorMessage.set(at, undefined)
    store.status.set(at, noInt)
    store.file.set(at, noInt)
    store.start.set(at, Number.NaN)
    store.end.set(at, Number.NaN)
    store.text.set(at, text)
  }

  /** @param at row in the store */
  #place(at: number, timeMs: number | undefined): void {
    this.#store.session.set(at, this.#fold.sessions.length - 1)
    this.#store.timeMs.set(at, timeMs ?? Number.NaN)
  }

  /** Computes columns of rows. @param at first row in `derived` */
  derive(from: number, count: number, derived: DerivedColumns, at: number): void {
    const { base } = this
    derived.compute({ entries: this.#fold.entries, store: this.#store, base }, from, count, at)
  }

  /** Rows from `from` to before `to`, by column. */
  cells(from: number, to: number): Cells<RowColumn> {
    const derived = new DerivedColumns()
    const cells = noCells(rowColumns)
    // Groups of the store end at fixed rows.
    for (let at = from, end = from; at < to; at = end) {
      end = Math.min(to, at - (at % rowsInGroup) + rowsInGroup)
      this.derive(at, end - at, derived, 0)
      const values: Record<RowColumn, ColumnValues> = {
        ...derived.values(0, end - at, this.#store),
        ...this.#store.values(at, end),
      }
      for (const name of names)
        for (let i = 0; i < end - at; i += 1) cells[name].push(cellOf(values[name], i))
    }
    return cells
  }

  /** Values shared by all rows of a session, which hold them too in an index of recordings. */
  facts(): SessionFacts[] {
    const messages = this.#fold.sessions.map(() => 0)
    const errors = [...messages]
    const { seq, kindNumber, flags } = this.#fold.entries.columns()
    for (let row = 0; row < this.length; row += 1) {
      const session = this.#store.session.at(this.base + row)
      if (session < 0 || seqOf(seq[row]!) === noInt) continue
      messages[session]! += 1
      if (isFailure(kindNumber[row]!, flags[row]!)) errors[session]! += 1
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
