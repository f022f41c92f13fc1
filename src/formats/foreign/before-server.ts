import type { Timed } from './exchange.js'

/** Characters that may wait for the exchange that names the server: usually OAuth, for another server. */
export const mostBefore = 8 * 1024 * 1024

/** Whether the records of an HTTP exchange show that it belongs to MCP. */
export function isOfMcp(records: readonly Timed[]): boolean {
  return records.some(
    ({ record }) => record.type === 'message' || (record.type === 'http' && record.sse !== undefined),
  )
}
