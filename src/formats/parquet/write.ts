import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { isAnswer, type Report } from '../../model/index.js'
import type { Recording } from '../format.js'
import { flatMapped } from '../iterate.js'
import { createLosses } from '../losses.js'
import { otherRow } from '../told/other-row.js'
import { tellRecords, type Told, type ToldMessage } from '../told/told.js'

type Cell = string | number | boolean | Date | undefined

/** Columns and their cell types (Apache Parquet, Logical Types). Every cell may be null. */
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
type Cells = Record<Column, Cell[]>

const names = Object.keys(columns) as Column[]

const elements = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int: { type: 'INT32' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
} as const

/** Limits of a row group: rows, and characters of payloads, that are held until it is written. */
const mostRows = 50_000
const mostChars = 32 << 20

/** Data that is repeated in all rows of a session. */
interface About {
  session?: string | undefined
  label?: string | undefined
  server?: string
  client?: string
}

/**
 * One row per message, with the exact text of its payload; other records (noise, stderr, gaps, HTTP without JSON-RPC)
 * have rows without a number. Compressed with Snappy.
 */
export function writeParquet(recording: Recording, report: Report): AsyncIterable<Uint8Array> {
  const losses = createLosses(report)
  const table = new Table()
  const about: About = {}
  function rowsOf(told: Told): Uint8Array[] {
    if (told.kind === 'message') {
      const { record, part } = told
      if (part === record.parts[0]) {
        if (record.batch) losses.add('batches are written message by message')
        if (record.http?.headers || record.sse) losses.add('HTTP headers and SSE fields are left out')
        losses.marks(record)
        losses.links(record)
      }
      notePeer(about, told)
      return table.addMessage(about, told)
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

/** Collects rows into row groups. */
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
  #cells = noCells()
  #chars = 0

  /** @returns bytes to be written to the file */
  add(row: Row): Uint8Array[] {
    for (const name of names) this.#cells[name].push(row[name])
    return this.#added(String(row.payload ?? '').length)
  }

  /** As `add`, cell by cell: an object for each of millions of messages would take most of the time. */
  addMessage(about: About, told: ToldMessage): Uint8Array[] {
    const { record, part, seq, us, latencyUs, sizeBytes, request, text } = told
    const { envelope } = part
    const method = envelope.method ?? request?.envelope.method
    const subject = envelope.subject ?? request?.envelope.subject
    const cells = this.#cells
    cells.session.push(about.session)
    cells.label.push(about.label)
    cells.server.push(about.server)
    cells.client.push(about.client)
    cells.seq.push(seq)
    cells.time.push(us === undefined ? undefined : timeOf(record.t))
    cells.offset_ms.push(us === undefined ? undefined : us / 1000)
    cells.direction.push(record.direction)
    cells.kind.push(envelope.kind)
    cells.method.push(method)
    cells.subject.push(subject)
    cells.tool.push(method === 'tools/call' ? subject : undefined)
    cells.id.push(envelope.id)
    cells.answers.push(request?.seq)
    cells.latency_ms.push(latencyUs === undefined ? undefined : latencyUs / 1000)
    cells.error_code.push(envelope.errorCode)
    cells.error_message.push(envelope.errorMessage)
    cells.is_error.push(
      isAnswer(envelope) ? envelope.kind === 'error' || envelope.toolError === true : undefined,
    )
    cells.conversation.push(record.conversation)
    cells.http_status.push(record.http?.status)
    cells.modified.push(record.modified === true)
    cells.size_bytes.push(sizeBytes)
    cells.payload.push(text)
    return this.#added(text.length)
  }

  end(): Uint8Array[] {
    const last = this.#cells.seq.length > 0 ? this.#group() : []
    // Both return at once, since they write to memory.
    void this.#writer.finish()
    return [...last, this.#taken()]
  }

  #added(chars: number): Uint8Array[] {
    this.#chars += chars
    return this.#chars > mostChars || this.#cells.seq.length >= mostRows ? this.#group() : []
  }

  #group(): Uint8Array[] {
    const cells = this.#cells
    const columnData = names.map((name) => ({ name, data: cells[name] }))
    void this.#writer.write({ columnData, rowGroupSize: mostRows })
    this.#cells = noCells()
    this.#chars = 0
    return [this.#taken()]
  }

  #taken(): Uint8Array {
    const taken = this.#bytes.getBytes().slice()
    this.#bytes.index = 0
    return taken
  }
}

function noCells(): Cells {
  return Object.fromEntries(names.map((name) => [name, [] as Cell[]])) as Cells
}

/** Peers identify themselves once; all later rows include their names. */
function notePeer(about: About, { record, part }: ToldMessage): void {
  const { peer } = part.envelope
  if (!peer) return
  about[record.direction === 'client_to_server' ? 'client' : 'server'] =
    `${peer.name} ${peer.version}`.trimEnd()
}

/** Undefined for an invalid time. */
function timeOf(text: string): Date | undefined {
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? undefined : time
}
