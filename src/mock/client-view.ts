import type { HeldRecord, MessageRecord, TapeRecord } from '../model/index.js'
import { readEnvelope } from '../wire/index.js'

/** How many held messages, and how many injected ones, are remembered. */
const remembered = 10_000

/**
 * The records from the client's point of view, if a person or rules stood between it and the server. Its messages
 * appear as sent, even if dropped later; messages that it never sent are left out, and so are their responses.
 */
export async function* clientView(
  records: AsyncIterable<TapeRecord>,
): AsyncGenerator<TapeRecord, void, undefined> {
  const held = new Map<string, HeldRecord>()
  const injected = new Set<string>()
  for await (const record of records) {
    if (record.type === 'held') {
      const id = record.parts[0]?.id
      if (record.direction === 'client_to_server' && id !== undefined && held.size < remembered)
        held.set(id, record)
    } else if (record.type === 'dropped') {
      const waited = held.get(record.id)
      held.delete(record.id)
      if (waited) yield { ...waited, type: 'message' }
    } else if (record.type === 'message') {
      const id = record.parts[0]?.id
      if (id !== undefined) held.delete(id)
      if (record.direction === 'client_to_server' && record.injected) {
        if (id !== undefined && injected.size < remembered) injected.add(id)
      } else if (!injected.has(record.parts[0]?.correlatedId ?? '')) yield asSent(record)
    } else yield record
  }
}

/** A client knows what it sent, not the edited version. For messages it received, the reverse is true. */
function asSent(record: MessageRecord): MessageRecord {
  const { original, direction, batch, parts } = record
  if (direction !== 'client_to_server' || original === undefined || batch) return record
  const { red: _, modified: __, original: ___, ...rest } = record
  const part = { ...parts[0]!, envelope: readEnvelope(original, 0), start: 0, end: original.length }
  return { ...rest, raw: original, parts: [part] }
}
