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
import { noCells, ParquetTable, type Cell, type Cells, type ColumnType } from './parquet-table.js'

/** Columns of an index. What all rows of a session have in common stands in the session's own row. */
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

/** What engines take at once. */
const rowsInGroup = 122_880

/** Names of methods, tools and conversations, each made once. */
const texts = createByteTexts()

/**
 * The rows of one recording as columns for SQL: everything but the payload of most messages, of which only the place in the tape is
 * noted. Payloads that are no piece of a tape's line as it stands (other formats, batches, lines that are rare) are kept as text.
 */
export class RowColumns implements PlainWatcher {
  readonly #fold: Fold
  readonly #recording: string
  readonly #paths: readonly string[]
  #lastFile = 0
  /** By row. */
  readonly #session: number[] = []
  readonly #timeMs: (number | undefined)[] = []
  readonly #method: Cell[] = []
  readonly #subject: Cell[] = []
  readonly #id: Cell[] = []
  readonly #errorCode: Cell[] = []
  readonly #errorMessage: Cell[] = []
  readonly #conversation: Cell[] = []
  readonly #status: Cell[] = []
  /** Number of the file among those of the recording. */
  readonly #file: Cell[] = []
  readonly #start: Cell[] = []
  readonly #end: Cell[] = []
  readonly #text: Cell[] = []

  /**
   * @param recording what users call it
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
    this.#place(row, timeOf(latin1(bytes, line.timeStart, line.timeEnd)))
    this.#method[row] = message.method || undefined
    this.#subject[row] = message.subject || undefined
    this.#id[row] = ascii(line.rpcIdStart, line.rpcIdEnd)
    this.#errorCode[row] = line.codeStart < 0 ? undefined : texts.at(bytes, line.codeStart, line.codeEnd)
    this.#errorMessage[row] = ascii(line.messageStart, line.messageEnd)
    this.#conversation[row] = message.conversation || undefined
    this.#status[row] = line.httpStatus || undefined
    this.#file[row] = this.#fileNumber(place.path)
    // A line stands in bytes that begin elsewhere in the file; both places are of the same chunk.
    const lineStart = line.timeStart - tapeHead
    this.#start[row] = place.offset + line.rawStart - lineStart
    this.#end[row] = place.offset + line.rawEnd - lineStart
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

  /** The whole as one Parquet file (without compression); sessions have a row each, too. */
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
    this.#file[row] = this.#start[row] = this.#end[row] = undefined
    this.#text[row] = detach(text)
  }

  #place(row: number, timeMs: number | undefined): void {
    this.#session[row] = this.#fold.sessions.length - 1
    this.#timeMs[row] = timeMs
  }

  /** Rows from `from` to before `to`, by column. */
  cells(from: number, to: number): Cells<RowColumn> {
    const { entries } = this.#fold
    const cells = noCells(rowColumns)
    for (let row = from; row < to; row += 1) {
      const kind = entries.kind(row)
      const peer = entries.peer(row)
      const isReply = isMessageKind(kind) && isAnswer({ kind })
      const asked = isReply && peer >= 0 ? peer : row
      const latencyUs = isReply && peer >= 0 ? entries.latencyUs(row) : undefined
      const isTimed = !entries.has(row, 'untimed')
      const method = this.#method[asked]
      const subject = this.#subject[asked]
      const seq = entries.seq(row)
      cells.session_number.push(this.#session[row])
      cells.seq.push(seq < 0 ? undefined : seq)
      cells.time_ms.push(isTimed ? this.#timeMs[row] : undefined)
      cells.offset_ms.push(isTimed ? entries.us(row) / 1000 : undefined)
      cells.direction.push(kind === 'gap' || kind === 'http' ? undefined : entries.direction(row))
      cells.kind.push(kind)
      cells.method.push(method)
      cells.subject.push(subject)
      cells.id.push(this.#id[row])
      cells.answers.push(isReply && peer >= 0 ? entries.seq(peer) : undefined)
      cells.latency_ms.push(latencyUs === undefined ? undefined : latencyUs / 1000)
      cells.waited_ms.push(latencyUs === undefined ? undefined : entries.waitedUs(row) / 1000)
      cells.held_ms.push(entries.has(row, 'held') ? entries.heldUs(row) / 1000 : undefined)
      cells.error_code.push(this.#errorCode[row])
      cells.error_message.push(this.#errorMessage[row])
      cells.is_error.push(isReply ? kind === 'error' || entries.has(row, 'toolError') : undefined)
      cells.conversation.push(this.#conversation[row])
      cells.http_status.push(this.#status[row])
      cells.modified.push(entries.has(row, 'modified'))
      cells.injected.push(entries.has(row, 'injected'))
      cells.dropped.push(entries.has(row, 'dropped'))
      cells.cancelled.push(entries.has(row, 'cancelled'))
      cells.size_bytes.push(entries.size(row))
      cells.file.push(this.#file[row])
      cells.payload_start.push(this.#start[row])
      cells.payload_end.push(this.#end[row])
      cells.text.push(this.#text[row])
      cells.row.push(row)
      cells.peer_row.push(peer < 0 ? undefined : peer)
    }
    return cells
  }

  /** A row a session: its kind is `session`, its text JSON. */
  sessions(): Cells<RowColumn> {
    const cells = noCells(rowColumns)
    this.#fold.sessions.forEach((session, number) => {
      const { id, label, transport, command, url, startedAt, endedAt, durationMs, exitCode, signal, error } =
        session
      const { complete, protocolVersion, redaction, server, client } = session
      const text = JSON.stringify({
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
      })
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

/** `{"t":"`, with which a plain line begins. */
const tapeHead = 6

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')
}

/** Milliseconds since 1970; undefined for what is no time. */
function timeOf(text: string): number | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}
