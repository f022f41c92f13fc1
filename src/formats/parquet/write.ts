import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { isAnswer, type Report } from '../../model/index.js'
import type { Recording } from '../format.js'
import { flatMapped } from '../iterate.js'
import { createLosses } from '../losses.js'
import { otherRow } from '../told/other-row.js'
import { tellRecords, type Told, type ToldMessage } from '../told/told.js'

type Cell = string | number | boolean | Date | undefined

/** Columns and the types of their cells (Apache Parquet, Logical Types). Every cell may be null. */
const columns = {
  session: 'text',
  label: 'text',
  server: 'text',
  client: 'text',
  seq: 'int',
  time: 'time',
  offset_ms: 'double',
  direction: 'text',
  kind: 'text',
  method: 'text',
  subject: 'text',
  tool: 'text',
  id: 'text',
  answers: 'int',
  latency_ms: 'double',
  error_code: 'text',
  error_message: 'text',
  is_error: 'boolean',
  conversation: 'text',
  http_status: 'int',
  modified: 'boolean',
  size_bytes: 'int',
  payload: 'text',
} as const

type Column = keyof typeof columns
type Row = Partial<Record<Column, Cell>>

const names = Object.keys(columns) as Column[]

const elements = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int: { type: 'INT32' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const

/** Rows, and characters of payloads, that are held until they are written as one row group. */
const mostRows = 50_000
const mostChars = 32 << 20

/**
 * A row a message, payloads with their exact text; lines that are no message (noise, stderr, gaps, HTTP without JSON-RPC) have rows
 * without a number. Compressed with Snappy.
 */
export function writeParquet(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  const losses = createLosses(report)
  const table = new Table()
  const about: Row = {}
  function rowsOf(told: Told): Uint8Array[] {
    if (told.kind === 'message') {
      const { record, part } = told
      if (part === record.parts[0]) {
        if (record.batch) losses.add('batches are written message by message')
        if (record.http?.headers || record.sse) losses.add('headers and fields of events are left out')
        losses.marks(record)
        losses.links(record)
      }
      notePeer(about, told)
      return table.add({ ...about, ...messageRow(told) })
    }
    const { record } = told
    if (record.type === 'meta') {
      about.label = record.label
      about.session = record.wiretape?.session
    }
    const row = otherRow(told)
    if (row)
      return table.add({ ...about, ...row, time: row.time === undefined ? undefined : timeOf(row.time) })
    losses.record(record)
    return []
  }
  function end(): Uint8Array[] {
    losses.tell()
    return table.end()
  }
  return flatMapped(tellRecords(recording), rowsOf, end)
}

/** Rows that become row groups. */
class Table {
  readonly #bytes = new ByteWriter()
  readonly #writer = new ParquetWriter({
    writer: this.#bytes,
    createdBy: 'wiretape',
    schema: [
      { name: 'messages', num_children: names.length },
      ...names.map((name) => ({ name, repetition_type: 'OPTIONAL' as const, ...elements[columns[name]] })),
    ],
  })
  #cells: Cell[][] = names.map(() => [])
  #chars = 0

  /** @returns what can be written to the file */
  add(row: Row): Uint8Array[] {
    names.forEach((name, i) => this.#cells[i]!.push(row[name]))
    this.#chars += String(row.payload ?? '').length
    return this.#chars > mostChars || this.#cells[0]!.length >= mostRows ? this.#group() : []
  }

  end(): Uint8Array[] {
    const last = this.#cells[0]!.length > 0 ? this.#group() : []
    // Both return at once: memory is where they write to.
    void this.#writer.finish()
    return [...last, this.#taken()]
  }

  #group(): Uint8Array[] {
    const columnData = names.map((name, i) => ({ name, data: this.#cells[i]! }))
    void this.#writer.write({ columnData, rowGroupSize: mostRows })
    this.#cells = names.map(() => [])
    this.#chars = 0
    return [this.#taken()]
  }

  #taken(): Uint8Array {
    const taken = this.#bytes.getBytes().slice()
    this.#bytes.index = 0
    return taken
  }
}

/** Peers say who they are once; the rows after that have their names. */
function notePeer(about: Row, { record, part }: ToldMessage): void {
  const { peer } = part.envelope
  if (!peer) return
  about[record.direction === 'client_to_server' ? 'client' : 'server'] =
    `${peer.name} ${peer.version}`.trimEnd()
}

/** Undefined for what is no time. */
function timeOf(text: string): Date | undefined {
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? undefined : time
}

function messageRow({ record, part, seq, us, latencyUs, sizeBytes, request, text }: ToldMessage): Row {
  const { envelope } = part
  const method = envelope.method ?? request?.envelope.method
  const subject = envelope.subject ?? request?.envelope.subject
  return {
    seq,
    time: us === undefined ? undefined : timeOf(record.t),
    offset_ms: us === undefined ? undefined : us / 1000,
    direction: record.direction,
    kind: envelope.kind,
    method,
    subject,
    tool: method === 'tools/call' ? subject : undefined,
    id: envelope.id,
    answers: request?.seq,
    latency_ms: latencyUs === undefined ? undefined : latencyUs / 1000,
    error_code: envelope.errorCode,
    error_message: envelope.errorMessage,
    is_error: isAnswer(envelope) ? envelope.kind === 'error' || envelope.toolError === true : undefined,
    conversation: record.conversation,
    http_status: record.http?.status,
    modified: record.modified === true,
    size_bytes: sizeBytes,
    payload: text,
  }
}
