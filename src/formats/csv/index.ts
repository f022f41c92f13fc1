import { lazyWrite } from '../lazy.js'
import type { Format } from '../format.js'

/** One row per message, for spreadsheets (RFC 4180). */
export const csv: Format = {
  id: 'csv',
  title: 'table (CSV)',
  extension: '.csv',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).writeCsv),
}
