import { asLegacySse, isEndpointEvent, type MetaRecord, type TapeRecord } from '../model/index.js'
import { flatMapped } from './iterate.js'
import { ownRecord } from './trace-v1/lent-message.js'

/** Records that may wait for evidence; after that, a session keeps the transport of its first line. */
const mostHeld = 1_000

/**
 * The records of a recording whose first line was written before its recorder knew which HTTP transport the server
 * uses: `sse` when the server announced an endpoint. Records wait until then, or until evidence of Streamable HTTP.
 */
export function withFoundTransport(records: AsyncIterable<TapeRecord>): AsyncIterable<TapeRecord> {
  let meta: MetaRecord | undefined
  let held: TapeRecord[] = []

  function decided(first: MetaRecord | undefined, last: readonly TapeRecord[]): TapeRecord[] {
    const all = [...(first ? [first] : []), ...held, ...last]
    meta = undefined
    held = []
    return all
  }

  function take(record: TapeRecord): TapeRecord[] {
    if (record.type === 'meta') {
      const before = decided(meta, [])
      if (record.wiretape?.transport !== 'streamable-http') return [...before, record]
      meta = record
      return before
    }
    if (!meta) return [record]
    if (isEndpointEvent(record)) return decided(asLegacySse(meta), [record])
    if (saysStreamable(record) || held.length >= mostHeld) return decided(meta, [record])
    held.push(record.type === 'message' ? ownRecord(record) : record)
    return []
  }

  return flatMapped(records, take, () => decided(meta, []))
}

/** An HTTP+SSE server announces its endpoint before any message; earlier refusals are HTTP errors. */
function saysStreamable(record: TapeRecord): boolean {
  return (
    record.type === 'message' &&
    record.direction === 'server_to_client' &&
    record.http !== undefined &&
    (record.http.status ?? 200) < 400
  )
}
