import type { MetaRecord, TapeRecord } from './record.js'

/**
 * The event in which an HTTP+SSE server (2024-11-05) announces its POST endpoint. Until it arrives, a recorder of HTTP
 * does not know which of the two transports is in use.
 */
export function isEndpointEvent(record: TapeRecord): boolean {
  return record.type === 'http' && record.sse?.event === 'endpoint'
}

/** Metadata of a recording after such an event was seen in it. */
export function asLegacySse(meta: MetaRecord): MetaRecord {
  const { wiretape } = meta
  if (wiretape?.transport !== 'streamable-http') return meta
  return { ...meta, wiretape: { ...wiretape, transport: 'sse' } }
}
