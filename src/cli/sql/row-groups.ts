import { ParquetWriter } from 'hyparquet-writer'
import { ChunkWriter } from './chunk-writer.js'
import { writePages } from './column-pages.js'
import { rowsInGroup, type ColumnValues } from './column-values.js'
import { joinedValues } from './joined-values.js'
import { schemaOf, type ColumnType } from './parquet-table.js'

/** Pieces of one group. Values of more would take much memory. */
const mostWaiting = 1_000

/** An uncompressed Parquet file in memory, written in groups of rows. */
export class RowGroups<Column extends string> {
  readonly #names: readonly Column[]
  readonly #mostTextBytes: number
  readonly #writer = new ChunkWriter()
  readonly #file: ParquetWriter
  /** Values of the next group. */
  #waiting: Record<Column, ColumnValues>[] = []
  #waitingRows = 0
  #waitingBytes = 0

  /** @param mostTextBytes of text per column and group */
  constructor(columns: Readonly<Record<Column, ColumnType>>, mostTextBytes: number) {
    this.#names = Object.keys(columns) as Column[]
    this.#mostTextBytes = mostTextBytes
    this.#file = new ParquetWriter({
      writer: this.#writer,
      createdBy: 'wiretape',
      codec: 'UNCOMPRESSED',
      statistics: false,
      schema: schemaOf(columns),
    })
  }

  /** Adds rows whose values may change afterwards. */
  group(count: number, values: Record<Column, ColumnValues>): void {
    if (count === 0) return
    this.#flush()
    this.#write(count, values)
  }

  /** Adds a few rows, which share a group with others: each group takes as long as thousands of rows. */
  take(count: number, values: Record<Column, ColumnValues>): void {
    if (count === 0) return
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

  /** Completes the file. */
  chunks(): readonly Uint8Array[] {
    this.#flush()
    void this.#file.finish()
    return this.#writer.chunks()
  }

  #flush(): void {
    if (this.#waiting.length === 0) return
    const joined = this.#names.map((name) => [
      name,
      joinedValues(this.#waiting.map((values) => values[name])),
    ])
    this.#write(this.#waitingRows, Object.fromEntries(joined) as Record<Column, ColumnValues>)
    this.#waiting = []
    this.#waitingRows = 0
    this.#waitingBytes = 0
  }

  #write(count: number, values: Record<Column, ColumnValues>): void {
    const start = this.#writer.offset
    const chunks = this.#names.map((name) => writePages(this.#writer, name, values[name]))
    const size = BigInt(this.#writer.offset - start)
    this.#file.row_groups.push({
      columns: chunks,
      num_rows: BigInt(count),
      total_byte_size: size,
      total_compressed_size: size,
    })
    this.#file.num_rows += BigInt(count)
  }
}

/** Bytes of the largest column of texts. */
export function textBytesOf(values: Readonly<Record<string, ColumnValues>>): number {
  return Math.max(
    ...Object.values(values).map((column) => (column.kind === 'texts' ? column.texts.size() : 0)),
  )
}
