import { asLegacySse, isEndpointEvent, type MetaRecord, type TapeRecord } from '../model/index.js'
import { flatMapped } from './iterate.js'

/** Records that may wait for the answer; a session that says nothing by then is told as it tells itself. */
const mostHeld = 1_000

/**
 * The records of a recording whose first line was written before its recorder knew which HTTP transport the server
 * speaks: `sse` where the server named an endpoint. The records up to there, or up to what only Streamable HTTP says,
 * wait.
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
    held.push(record)
    return []
  }

  return flatMapped(records, take, () => decided(meta, []))
}

/** A server of HTTP+SSE names its endpoint before it says anything else; what it refuses before is an error of HTTP. */
function saysStreamable(record: TapeRecord): boolean {
  return (
    record.type === 'message' &&
    record.direction === 'server_to_client' &&
    record.http !== undefined &&
    (record.http.status ?? 200) < 400
  )
}
