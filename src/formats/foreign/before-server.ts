import type { Timed } from './exchange.js'

/** Characters of what may wait for the exchange that names the server: OAuth, mostly, which names another one. */
export const mostBefore = 8 * 1024 * 1024

/** Whether the records of an HTTP exchange show that it was one of MCP. */
export function isOfMcp(records: readonly Timed[]): boolean {
  return records.some(
    ({ record }) => record.type === 'message' || (record.type === 'http' && record.sse !== undefined),
  )
}
