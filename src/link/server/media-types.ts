/** @param orAnything also by a wildcard */
export function acceptsEvents(accept: string | undefined, orAnything = false): boolean {
  return (orAnything ? /text\/event-stream|\*\/\*/i : /text\/event-stream/i).test(accept ?? '')
}

/** One JSON object as an answer, also by a wildcard. */
export function acceptsJson(accept = '*/*'): boolean {
  return /application\/json|\*\/\*|application\/\*/i.test(accept)
}

/** A client of Streamable HTTP has to take one JSON object as well as a stream, up to 2025-11-25 servers insist on it. */
export function acceptsBoth(accept: string | undefined): boolean {
  return /application\/json/i.test(accept ?? '') && acceptsEvents(accept)
}

/** @param value of `Content-Type`, parameters included */
export function isJsonType(value: string | undefined): boolean {
  return value?.split(';', 1)[0]!.trim().toLowerCase() === 'application/json'
}
