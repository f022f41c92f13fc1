import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'

export type Cell = string | number | boolean | undefined
export type ColumnType = 'text' | 'int' | 'double' | 'boolean'
export type Cells<Column extends string> = Record<Column, Cell[]>

const elements = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  int: { type: 'INT32' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
} as const

/** Columns of a table; each may lack values. */
export function schemaOf(columns: Readonly<Record<string, ColumnType>>): SchemaElement[] {
  const names = Object.keys(columns)
  return [
    { name: 'rows', num_children: names.length },
    ...names.map((name) => ({ name, repetition_type: 'OPTIONAL' as const, ...elements[columns[name]!] })),
  ]
}

export function noCells<Column extends string>(columns: Readonly<Record<Column, ColumnType>>): Cells<Column> {
  return Object.fromEntries(Object.keys(columns).map((name) => [name, [] as Cell[]])) as Cells<Column>
}

/** A Parquet file in memory, written in groups of rows. */
export class ParquetTable<Column extends string> {
  readonly #names: readonly Column[]
  readonly #writer = new ByteWriter()
  readonly #file: ParquetWriter

  /** @param codec of the pages */
  constructor(
    columns: Readonly<Record<Column, ColumnType>>,
    codec: 'UNCOMPRESSED' | 'SNAPPY' = 'UNCOMPRESSED',
  ) {
    this.#names = Object.keys(columns) as Column[]
    this.#file = new ParquetWriter({
      writer: this.#writer,
      createdBy: 'wiretape',
      codec,
      statistics: false,
      schema: schemaOf(columns),
    })
  }

  /** Bytes so far. */
  get size(): number {
    return this.#writer.offset
  }

  group(cells: Cells<Column>): void {
    void this.#file.write({ columnData: this.#names.map((name) => ({ name, data: cells[name] })) })
  }

  bytes(): Uint8Array {
    void this.#file.finish()
    return this.#writer.getBytes()
  }
}

/** Undefined for a value that its column cannot hold: a hostile tape could otherwise spoil the whole file. */
export function fitting(value: Cell, type: ColumnType): Cell {
  return fits[type](value) ? value : undefined
}
const fits: Readonly<Record<ColumnType, (value: Cell) => boolean>> = {
  text: (value) => typeof value === 'string',
  int: (value) => typeof value === 'number' && (value | 0) === value,
  double: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
}
