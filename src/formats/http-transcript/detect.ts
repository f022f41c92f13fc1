import type { TranscriptTransport } from './entry.js'

/** Scores an object with that `transport` and with `entries`, or with entries like those of a transcript. */
export function detectTranscript(head: Uint8Array, transport: TranscriptTransport): number {
  const text = new TextDecoder().decode(head)
  if (!/^\ufeff?\s*[{]/.test(text) || /^\ufeff?\s*\{\s*"(?:v|t|type|dir|raw|jsonrpc|log)"\s*:/.test(text))
    return 0
  const said = /"transport"\s*:\s*"([^"\\]*)"/.exec(text)?.[1]
  const hasEntries = /"entries"\s*:\s*(?:\[|$)/.test(text)
  if (said === transport) return hasEntries ? 0.85 : /^\ufeff?\s*\{\s*"transport"/.test(text) ? 0.4 : 0
  // The other transport, or another kind of document with a transport.
  if (said !== undefined) return said === 'streamable-http' || said === 'http-sse' ? 0 : hasEntries ? 0.3 : 0
  return hasEntries && /"(?:request|response|sse)"\s*:\s*\{/.test(text) ? 0.5 : 0
}
