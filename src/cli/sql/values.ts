import { escapeJson } from '../../render/index.js'
import type { Result } from './duckdb.js'

/** A value of DuckDB as JSON text. @param isJson for a JSON column: its text stays unchanged */
function valueJson(value: unknown, isJson = false): string {
  if (value === null || value === undefined) return 'null'
  if (isJson && typeof value === 'string') return value
  switch (typeof value) {
    case 'bigint':
      return Number.isSafeInteger(Number(value)) ? value.toString() : JSON.stringify(value.toString())
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : JSON.stringify(String(value))
    case 'boolean':
    case 'string':
      return JSON.stringify(value)
    default:
  }
  const { items, entries } = value as { items?: unknown; entries?: unknown }
  if (Array.isArray(items)) return `[${items.map((item) => valueJson(item)).join(',')}]`
  if (typeof entries === 'object' && entries !== null && !Array.isArray(entries))
    return `{${Object.entries(entries)
      .map(([name, entry]) => `${JSON.stringify(name)}:${valueJson(entry)}`)
      .join(',')}}`
  // Times, decimals, UUIDs and the like have a `toString`.
  return JSON.stringify(valueText(value))
}

/** A value for people; '' for null. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : shortNumber(value)
  if (typeof value === 'object' && 'items' in value) return valueJson(value)
  return (value as { toString(): string }).toString()
}

/** People need only six digits. */
function shortNumber(value: number): string {
  return String(Number(value.toPrecision(6)))
}

export function columnsOf(result: Result): string[] {
  return Array.from({ length: result.columnCount }, (_, i) => result.columnName(i))
}

export function isNumberColumn(result: Result, column: number): boolean {
  return /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|UINTEGER|DOUBLE|FLOAT|DECIMAL.*)$/.test(
    String(result.columnType(column)),
  )
}

/** Each row as a JSON object. */
export async function* rowsJson(result: Result): AsyncGenerator<string> {
  const columns = columnsOf(result)
  const isJson = columns.map((_, i) => result.columnType(i).alias === 'JSON')
  for (;;) {
    const chunk = await result.fetchChunk()
    if (!chunk || chunk.rowCount === 0) return
    for (const row of chunk.getRows()) {
      const members = row.map((value, i) => `${JSON.stringify(columns[i])}:${valueJson(value, isJson[i])}`)
      yield escapeJson(`{${members.join(',')}}`)
    }
  }
}
