import { parquetReadObjects } from 'hyparquet'
import { readFileSync } from 'node:fs'

export type Row = Record<string, unknown>

/** All rows of Parquet files. */
export async function rowsIn(paths: readonly string[]): Promise<Row[]> {
  const files = await Promise.all(
    paths.map((path) => parquetReadObjects({ file: Uint8Array.from(readFileSync(path)).buffer })),
  )
  return files.flat() as Row[]
}
