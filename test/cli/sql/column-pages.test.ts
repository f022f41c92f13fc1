import { parquetReadObjects } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { expect, it } from 'vitest'
import { writePages } from '../../../src/cli/sql/column-pages.js'
import {
  cellOf,
  Names,
  noBoolean,
  noInt,
  Numbers,
  sameValue,
  Texts,
  type ColumnValues,
} from '../../../src/cli/sql/column-values.js'
import { schemaOf } from '../../../src/cli/sql/parquet-table.js'

const count = 1_003

function filled(set: (row: number) => void, step = 1): void {
  for (let row = 0; row < count; row += step) set(row)
}

function names(of: (row: number) => string | undefined): ColumnValues {
  const column = new Names()
  filled((row) => column.set(row, of(row)))
  return column.rows(0, count)
}

function texts(fill: (column: Texts) => void): ColumnValues {
  const column = new Texts()
  fill(column)
  return column.rows(0, count)
}

const some = new Numbers()
filled((row) => some.set(row, row / 7), 3)

const values: Record<string, ColumnValues> = {
  double: { kind: 'doubles', at: Float64Array.from({ length: count }, (_, row) => row * 1.5 - 3) },
  double_some: { kind: 'doubles', at: some.rows(0, count) },
  double_same: { kind: 'doubles', at: new Float64Array(count).fill(0.5) },
  double_none: { kind: 'doubles', at: new Float64Array(count).fill(Number.NaN) },
  int: { kind: 'ints', at: Int32Array.from({ length: count }, (_, row) => (row % 5 === 0 ? noInt : -row)) },
  boolean: { kind: 'booleans', at: Uint8Array.from({ length: count }, (_, row) => row % 3) },
  boolean_none: { kind: 'booleans', at: new Uint8Array(count).fill(noBoolean) },
  text_one: names(() => 'tools/call'),
  text_two: names((row) => (row % 2 === 0 ? 'é漢\u{1f600}' : 'ping')),
  text_many: names((row) => (row % 4 === 0 ? undefined : `name ${row % 300}`)),
  text_unique: names((row) => `unique ${row}`),
  text_plain: texts((column) => filled((row) => column.set(row, `text ${row} é`), 2)),
  text_bytes: texts((column) =>
    filled((row) => column.setBytes(row, Buffer.from(`(${row})`), 1, 3 + (row > 9 ? 0 : -1))),
  ),
  // Rows of held messages are written again when they are forwarded.
  text_again: texts((column) => {
    filled((row) => column.set(row, `first ${row}`))
    filled((row) => column.set(row, row % 2 === 0 ? undefined : `second ${row}`), 5)
  }),
  text_half: texts((column) => column.set(7, 'half \ud800')),
  text_same: sameValue('shop', count),
  text_none: sameValue(undefined, count),
  text_runs: {
    kind: 'runs',
    runs: Array.from({ length: 334 }, (_, i) => ({
      value: i % 5 === 0 ? undefined : `run ${i}`,
      count: i < 333 ? 3 : 4,
    })),
  },
}

it('columns of every kind are read by another program as they were', async () => {
  const types = { double: 'double', int: 'int', boolean: 'boolean', text: 'text' } as const
  const columns = Object.keys(values).map(
    (name) => [name, types[name.split('_')[0] as keyof typeof types]] as const,
  )
  const writer = new ByteWriter()
  const file = new ParquetWriter({
    writer,
    schema: schemaOf(Object.fromEntries(columns)),
    codec: 'UNCOMPRESSED',
  })
  const chunks = Object.entries(values).map(([name, column]) => writePages(writer, name, column))
  file.row_groups.push({ columns: chunks, num_rows: BigInt(count), total_byte_size: BigInt(writer.offset) })
  file.num_rows = BigInt(count)
  void file.finish()
  const rows = await parquetReadObjects({ file: Uint8Array.from(writer.getBytes()).buffer })
  expect(rows).toHaveLength(count)
  const found = Object.fromEntries(
    Object.keys(values).map((name) => [name, rows.map((row) => row[name] ?? undefined)]),
  )
  const meant = Object.entries(values).map(([name, column]) => [
    name,
    Array.from({ length: count }, (_, row) => cellOf(column, row)),
  ])
  expect(found).toEqual(Object.fromEntries(meant))
})
