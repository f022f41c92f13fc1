import { ParquetWriter } from 'hyparquet-writer'
import { ChunkWriter } from './chunk-writer.js'
import { writePages } from './column-pages.js'
import { noBoolean, noInt, rowsInGroup, sameValue, type ColumnValues } from './column-values.js'
import { joinedValues } from './joined-values.js'
import { schemaOf, type ColumnType } from './parquet-table.js'
import { factsText, rowColumns, type RowColumns, type RowColumn, type SessionFacts } from './row-columns.js'

/** Values of a row's recording and session. They take a few bytes per group of rows, and spare queries a join. */
const sharedColumns = {
  part: 'text',
  recording: 'text',
  session: 'text',
  label: 'text',
  server: 'text',
  client: 'text',
  transport: 'text',
} as const satisfies Record<string, ColumnType>

const columns = { ...sharedColumns, ...rowColumns }
type Column = keyof typeof columns
const shared = Object.keys(sharedColumns) as (keyof typeof sharedColumns)[]

/** Larger groups of rows are halved, since the size of a page has 31 bits. */
const mostTextBytes = 1 << 30

/** Values of more recordings would take much memory. */
const mostWaiting = 1_000

/** Rows of recordings: one uncompressed Parquet file, with a row for each session too. */
export class RecordingTable {
  readonly #mostTextBytes: number
  readonly #writer = new ChunkWriter()
  readonly #file = new ParquetWriter({
    writer: this.#writer,
    createdBy: 'wiretape',
    codec: 'UNCOMPRESSED',
    statistics: false,
    schema: schemaOf(columns),
  })

  /** Values of the next group. */
  #waiting: Record<Column, ColumnValues>[] = []
  #waitingRows = 0
  #waitingBytes = 0

  /** @param most bytes of text per column and group */
  constructor(most = mostTextBytes) {
    this.#mostTextBytes = most
  }

  /**
   * @param recording name for users
   * @param part identifies the recording and its state
   */
  add(rows: RowColumns, recording: string, part: string): void {
    const facts = rows.facts()
    for (let from = 0, to = 0; from < rows.length; from = to) {
      to = Math.min(rows.length, from - (from % rowsInGroup) + rowsInGroup)
      let own = rows.values(from, to)
      while (to - from > 1 && textBytesOf(own) > this.#mostTextBytes) {
        to = from + ((to - from) >> 1)
        own = rows.values(from, to)
      }
      this.#take(to - from, {
        ...sharedValues(own.session_number, facts, to - from, recording, part),
        ...own,
      })
    }
    if (facts.length > 0) this.#sessions(facts, recording, part)
  }

  /** Completes the file. */
  chunks(): readonly Uint8Array[] {
    this.#flush()
    void this.#file.finish()
    return this.#writer.chunks()
  }

  #sessions(facts: readonly SessionFacts[], recording: string, part: string): void {
    const count = facts.length
    const texts = facts.map(factsText)
    const numbers: ColumnValues = { kind: 'ints', at: Int32Array.from(texts.keys()) }
    const own = Object.fromEntries(
      (Object.keys(rowColumns) as RowColumn[]).map((name) => [name, emptyOf(rowColumns[name], count)]),
    ) as Record<RowColumn, ColumnValues>
    this.#take(count, {
      ...sharedValues(numbers, facts, count, recording, part),
      ...own,
      session_number: numbers,
      kind: sameValue('session', count),
      text: { kind: 'names', at: Int32Array.from(texts.keys()), texts },
    })
  }

  /** Small recordings share groups: each group takes as long as thousands of rows. */
  #take(count: number, values: Record<Column, ColumnValues>): void {
    const textBytes = textBytesOf(values)
    if (
      this.#waitingRows + count > rowsInGroup ||
      this.#waitingBytes + textBytes > this.#mostTextBytes ||
      this.#waiting.length === mostWaiting
    )
      this.#flush()
    this.#waiting.push(values)
    this.#waitingRows += count
    this.#waitingBytes += textBytes
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const start = this.#writer.offset
    const chunks = (Object.keys(columns) as Column[]).map((name) =>
      writePages(this.#writer, name, joinedValues(this.#waiting.map((values) => values[name]))),
    )
    const size = BigInt(this.#writer.offset - start)
    this.#file.row_groups.push({
      columns: chunks,
      num_rows: BigInt(this.#waitingRows),
      total_byte_size: size,
      total_compressed_size: size,
    })
    this.#file.num_rows += BigInt(this.#waitingRows)
    this.#waiting = []
    this.#waitingRows = 0
    this.#waitingBytes = 0
  }
}

function sharedValues(
  sessions: ColumnValues,
  facts: readonly SessionFacts[],
  count: number,
  recording: string,
  part: string,
): Record<keyof typeof sharedColumns, ColumnValues> {
  const numbers = sessions.kind === 'ints' ? sessions.at : new Int32Array(count)
  const isOne = numbers.every((number) => number === numbers[0])
  const values = shared.map((name): [string, ColumnValues] => {
    const value = (number: number): string | undefined => {
      const fact = name === 'recording' ? recording : name === 'part' ? part : facts[number]?.[name]
      return typeof fact === 'string' ? fact : undefined
    }
    if (isOne) return [name, sameValue(value(numbers[0]!), count)]
    const texts = facts.map((_, number) => value(number) ?? '')
    const at = Int32Array.from(numbers, (number) => (value(number) === undefined ? -1 : number))
    return [name, { kind: 'names', at, texts }]
  })
  return Object.fromEntries(values) as Record<keyof typeof sharedColumns, ColumnValues>
}

/** Bytes of the largest column of texts. */
function textBytesOf(values: Readonly<Record<string, ColumnValues>>): number {
  return Math.max(
    ...Object.values(values).map((column) => (column.kind === 'texts' ? column.texts.size() : 0)),
  )
}

/** Without values. */
function emptyOf(type: ColumnType, count: number): ColumnValues {
  switch (type) {
    case 'text':
      return sameValue(undefined, count)
    case 'int':
      return { kind: 'ints', at: new Int32Array(count).fill(noInt) }
    case 'double':
      return { kind: 'doubles', at: new Float64Array(count).fill(Number.NaN) }
    case 'boolean':
      return { kind: 'booleans', at: new Uint8Array(count).fill(noBoolean) }
  }
}
