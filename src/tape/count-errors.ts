import { createRecent, type Part, type TapeRecord } from '../model/index.js'

/** Injected requests, and held responses to them, that are remembered, each. */
const remembered = 1_024

/**
 * Counts JSON-RPC errors and failed tool results, as `isErrorAnswer` does for rows. Takes records in file order. A
 * response to an injected request is never forwarded, and counts when it is dropped.
 */
export function createErrorCounter(): (record: TapeRecord) => number {
  const injected = createRecent<true>({ entries: remembered })
  const held = createRecent<number>({ entries: remembered })
  return (record) => {
    switch (record.type) {
      case 'message': {
        if (record.injected) for (const { id } of record.parts) if (id !== undefined) injected.set(id, true)
        return errorsIn(record.parts)
      }
      case 'held': {
        const id = record.parts[0]?.id
        const own = record.parts.filter(({ correlatedId: to }) => to !== undefined && injected.get(to))
        if (id !== undefined && own.length > 0) held.set(id, errorsIn(own))
        return 0
      }
      case 'dropped':
        return held.get(record.id) ?? 0
      default:
        return 0
    }
  }
}

function errorsIn(parts: readonly Part[]): number {
  let errors = 0
  for (const { envelope } of parts) if (envelope.kind === 'error' || envelope.toolError) errors += 1
  return errors
}
