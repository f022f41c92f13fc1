import {
  isFrameRecord,
  isLoneRecord,
  loneFacts,
  detach,
  isAnswer,
  isMessageKind,
  type Fold,
  type MessageRecord,
  type HeldRecord,
  type TapeRecord,
  type Rows,
} from '../../model/index.js'
import { createByteTexts } from '../byte-texts.js'
import type { LinePlace, PlainRow, PlainWatcher } from '../quick-load.js'
import { latin1, LineTimes, timeOf } from './line-times.js'
import { fitting, noCells, ParquetTable, type Cell, type Cells, type ColumnType } from './parquet-table.js'

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

/** Rows that engines process at once. */
const rowsInGroup = 122_880

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
  readonly #session: number[] = []
  readonly #timeMs = new Numbers()
  readonly #method: Cell[] = []
  readonly #subject: Cell[] = []
  readonly #id: Cell[] = []
  readonly #errorCode: Cell[] = []
  readonly #errorMessage: Cell[] = []
  readonly #conversation: Cell[] = []
  readonly #status: Cell[] = []
  /** Index of the file in the recording. */
  readonly #file: Cell[] = []
  readonly #start = new Numbers()
  readonly #end = new Numbers()
  readonly #text: Cell[] = []

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
    const ascii = (start: number, end: number): string | undefined =>
      start < 0 ? undefined : latin1(bytes, start, end)
    this.#place(row, this.#times.at(bytes, line.timeStart, line.timeEnd))
    this.#method[row] = message.method || undefined
    this.#subject[row] = message.subject || undefined
    this.#id[row] = ascii(line.rpcIdStart, line.rpcIdEnd)
    this.#errorCode[row] = line.codeStart < 0 ? undefined : texts.at(bytes, line.codeStart, line.codeEnd)
    this.#errorMessage[row] = ascii(line.messageStart, line.messageEnd)
    this.#conversation[row] = message.conversation || undefined
    this.#status[row] = line.httpStatus || undefined
    this.#file[row] = this.#fileNumber(place.path)
    // Both offsets are relative to the same chunk, which begins elsewhere in the file.
    const lineStart = line.timeStart - tapeHead
    this.#start.set(row, place.offset + line.rawStart - lineStart)
    this.#end.set(row, place.offset + line.rawEnd - lineStart)
    this.#text[row] = undefined
  }

  take(record: TapeRecord, { first }: Rows): void {
    if (isFrameRecord(record)) return this.#frame(record, first)
    if (!isLoneRecord(record)) return
    const { text, summary } = loneFacts(record)
    this.#other(first, record.t, text ?? summary)
    if (record.type !== 'http') return
    this.#method[first] = detach(record.method)
    this.#subject[first] = detach(record.path)
    this.#conversation[first] = record.conversation
    this.#status[first] = record.status
  }

  get length(): number {
    return this.#fold.entries.length
  }

  /** All rows as one uncompressed Parquet file, with one row per session too. */
  bytes(): Uint8Array {
    const table = new ParquetTable(rowColumns)
    for (let from = 0; from < this.length; from += rowsInGroup)
      table.group(this.cells(from, Math.min(this.length, from + rowsInGroup)))
    table.group(this.sessions())
    return table.bytes()
  }

  #frame(record: MessageRecord | HeldRecord, first: number): void {
    record.parts.forEach(({ envelope, start, end }, i) => {
      const row = first + i
      this.#other(row, record.t, record.raw.slice(start, end))
      this.#method[row] = envelope.method && detach(envelope.method)
      this.#subject[row] = envelope.subject && detach(envelope.subject)
      this.#id[row] = envelope.id && detach(envelope.id)
      this.#errorCode[row] = envelope.errorCode && detach(envelope.errorCode)
      this.#errorMessage[row] = envelope.errorMessage && detach(envelope.errorMessage)
      this.#conversation[row] = record.conversation
      this.#status[row] = record.http?.status
    })
  }

  #other(row: number, t: string, text: string): void {
    this.#place(row, timeOf(t))
    this.#method[row] = this.#subject[row] = this.#id[row] = undefined
    this.#errorCode[row] = this.#errorMessage[row] = this.#conversation[row] = this.#status[row] = undefined
    this.#file[row] = undefined
    this.#start.set(row, undefined)
    this.#end.set(row, undefined)
    this.#text[row] = detach(text)
  }

  #place(row: number, timeMs: number | undefined): void {
    this.#session[row] = this.#fold.sessions.length - 1
    this.#timeMs.set(row, timeMs)
  }

  /** Rows from `from` to before `to`, by column. */
  cells(from: number, to: number): Cells<RowColumn> {
    const { entries } = this.#fold
    const count = to - from
    // For a response row: its request, else -1. The request holds the method.
    const asked = new Int32Array(count)
    for (let i = 0; i < count; i += 1) {
      const kind = entries.kind(from + i)
      asked[i] = isMessageKind(kind) && isAnswer({ kind }) ? entries.peer(from + i) : -1
    }
    // Arrays of final length, with one kind of value if possible, so that the engine stores numbers unboxed.
    const column = (of: (row: number, asked: number) => Cell): Cell[] => {
      const cells: Cell[] = []
      cells.length = count
      for (let i = 0; i < count; i += 1) cells[i] = of(from + i, asked[i]!)
      return cells
    }
    const ofAnswer = (of: (row: number, asked: number) => Cell): Cell[] =>
      column((row, request) => (request < 0 ? undefined : of(row, request)))
    const latencies = ofAnswer((row) => entries.latencyUs(row))
    return {
      session_number: column((row) => this.#session[row]),
      seq: column((row) => seqOf(entries.seq(row))),
      time_ms: column((row) => (entries.has(row, 'untimed') ? undefined : this.#timeMs.at(row))),
      offset_ms: column((row) => (entries.has(row, 'untimed') ? undefined : entries.us(row) / 1000)),
      direction: column((row) => {
        const kind = entries.kind(row)
        return kind === 'gap' || kind === 'http' ? undefined : entries.direction(row)
      }),
      kind: column((row) => entries.kind(row)),
      method: column((row, request) => this.#method[request < 0 ? row : request]),
      subject: column((row, request) => this.#subject[request < 0 ? row : request]),
      id: column((row) => this.#id[row]),
      answers: ofAnswer((_, request) => seqOf(entries.seq(request))),
      latency_ms: latencies.map((us) => (us === undefined ? undefined : Number(us) / 1000)),
      waited_ms: ofAnswer((row) =>
        latencies[row - from] === undefined ? undefined : entries.waitedUs(row) / 1000,
      ),
      held_ms: column((row) => (entries.has(row, 'held') ? entries.heldUs(row) / 1000 : undefined)),
      error_code: column((row) => this.#errorCode[row]),
      error_message: column((row) => this.#errorMessage[row]),
      is_error: column((row) => {
        const kind = entries.kind(row)
        if (kind !== 'result' && kind !== 'error') return undefined
        return kind === 'error' || entries.has(row, 'toolError')
      }),
      conversation: column((row) => this.#conversation[row]),
      http_status: column((row) => fitting(this.#status[row], 'int')),
      modified: column((row) => entries.has(row, 'modified')),
      injected: column((row) => entries.has(row, 'injected')),
      dropped: column((row) => entries.has(row, 'dropped')),
      cancelled: column((row) => entries.has(row, 'cancelled')),
      size_bytes: column((row) => entries.size(row)),
      file: column((row) => this.#file[row]),
      payload_start: column((row) => this.#start.at(row)),
      payload_end: column((row) => this.#end.at(row)),
      text: column((row) => this.#text[row]),
      row: column((row) => row),
      peer_row: column((row) => {
        const peer = entries.peer(row)
        return peer < 0 ? undefined : peer
      }),
    }
  }

  /** One row per session, with kind `session` and JSON as text. */
  sessions(): Cells<RowColumn> {
    const cells = noCells(rowColumns)
    this.#fold.sessions.forEach((session, number) => {
      const { id, label, transport, command, url, startedAt, endedAt, durationMs, exitCode, signal, error } =
        session
      const { complete, protocolVersion, redaction, server, client } = session
      const facts = {
        recording: this.#recording,
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
      const text = JSON.stringify(facts, (_, value: unknown) =>
        // Engines reject JSON with half a surrogate pair, which would make every session unreadable.
        typeof value === 'string' ? Buffer.from(value).toString() : value,
      )
      const row: Partial<Record<RowColumn, Cell>> = { kind: 'session', session_number: number, text }
      for (const name of names) cells[name].push(row[name])
    })
    return cells
  }

  #fileNumber(path: string): number {
    return path === this.#paths[this.#lastFile]
      ? this.#lastFile
      : (this.#lastFile = this.#paths.indexOf(path))
  }
}

/** Length of `{"t":"`, the start of a plain line. */
const tapeHead = 6

/** A number per row; some may be missing. */
class Numbers {
  #values = new Float64Array(1_024)

  set(row: number, value: number | undefined): void {
    if (row >= this.#values.length) {
      const longer = new Float64Array(row + (row >> 1))
      longer.set(this.#values)
      this.#values = longer
    }
    this.#values[row] = value ?? Number.NaN
  }

  at(row: number): number | undefined {
    const value = this.#values[row]!
    return Number.isNaN(value) ? undefined : value
  }
}

/** Undefined for rows without a message, and for numbers that no recorder assigns. */
function seqOf(seq: number): number | undefined {
  return seq < 0 || seq > 0x7fff_ffff ? undefined : seq
}
