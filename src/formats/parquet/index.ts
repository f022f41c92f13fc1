import { lazyWrite } from '../lazy.js'
import type { Format } from '../format.js'

/** A row a message, for engines such as DuckDB (Apache Parquet 2). Pages do without it: its writer is as large as a tenth of them. */
export const parquet: Format = {
  id: 'parquet',
  title: 'table (Parquet)',
  extension: '.parquet',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).writeParquet),
}
