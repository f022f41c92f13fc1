import { writeOnly } from '../lazy.js'
import type { Format } from '../format.js'

/** One row per message (Apache Parquet 2, DuckDB). Pages omit it: its writer is a tenth of their size. */
export const parquet: Format = writeOnly(
  { id: 'parquet', title: 'table (Parquet)', extension: '.parquet' },
  async () => (await import('./write.js')).writeParquet,
)
