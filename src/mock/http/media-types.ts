/** A client of Streamable HTTP has to take one JSON object as well as a stream, up to 2025-11-25 servers insist on it. */
export function acceptsBoth(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes('application/json') && acceptsStream(accept)
}

export function acceptsStream(accept: string | undefined): boolean {
  return accept !== undefined && accept.includes('text/event-stream')
}

/** @param value of `Content-Type`, parameters included */
export function isJsonType(value: string | undefined): boolean {
  return value?.split(';', 1)[0]!.trim().toLowerCase() === 'application/json'
}
