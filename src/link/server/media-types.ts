/** @param orAnything whether a wildcard counts too */
export function acceptsEvents(accept: string | undefined, orAnything = false): boolean {
  return (orAnything ? /text\/event-stream|\*\/\*/i : /text\/event-stream/i).test(accept ?? '')
}

/** Whether a JSON response is accepted, also by a wildcard. */
export function acceptsJson(accept = '*/*'): boolean {
  return /application\/json|\*\/\*|application\/\*/i.test(accept)
}

/** A Streamable HTTP client must accept both JSON and a stream. Servers up to 2025-11-25 insist on it. */
export function acceptsBoth(accept: string | undefined): boolean {
  return /application\/json/i.test(accept ?? '') && acceptsEvents(accept)
}

/** @param value of `Content-Type`, including parameters */
export function isJsonType(value: string | undefined): boolean {
  return value?.split(';', 1)[0]!.trim().toLowerCase() === 'application/json'
}
