import { writeOnly } from '../lazy.js'
import type { Format } from '../format.js'

/** One row per message, for spreadsheets (RFC 4180). */
export const csv: Format = writeOnly(
  { id: 'csv', title: 'table (CSV)', extension: '.csv' },
  async () => (await import('./write.js')).writeCsv,
)
