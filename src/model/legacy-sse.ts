import type { MetaRecord, TapeRecord } from './record.js'

/**
 * The event with which a server of HTTP+SSE (2024-11-05) says where to POST: whoever records HTTP does not know before
 * that which of the two transports passes.
 */
export function isEndpointEvent(record: TapeRecord): boolean {
  return record.type === 'http' && record.sse?.event === 'endpoint'
}

/** What a recording says of itself, once such an event was seen in it. */
export function asLegacySse(meta: MetaRecord): MetaRecord {
  const { wiretape } = meta
  if (wiretape?.transport !== 'streamable-http') return meta
  return { ...meta, wiretape: { ...wiretape, transport: 'sse' } }
}
