import { readEnvelope } from './envelope.js'
import { onOneLine } from './json-compact.js'
import { JsonObject } from './json-object.js'
import { findJsonValue, isFault, kindAt } from './json-text.js'

/** JSON that a person wrote, on one line and otherwise exact. A response has either `result` or `error`. */
export interface Written {
  readonly text: string
  readonly result?: string
  readonly error?: string
}

/**
 * Reads a message or a response (`{"result": …}` or `{"error": …}`) that a person wrote. Removes surrounding white
 * space and line breaks; numbers and the order of members stay unchanged.
 */
export function readWritten(written: string, as: 'message' | 'answer'): Written | { readonly fault: string } {
  const found = findJsonValue(written)
  if (isFault(found)) return { fault: `not JSON: ${found.reason}, ${placeOf(written, found.at)}` }
  const text = onOneLine(written.slice(found.start, found.end))
  const isObject = kindAt(text, 0) === 'object'
  if (as === 'answer') {
    const object = isObject ? new JsonObject(text, 0) : undefined
    const result = object?.raw('result')
    const error = object?.raw('error')
    if ((result === undefined) === (error === undefined))
      return { fault: 'a response must have either "result" or "error"' }
    return { text, ...(result !== undefined && { result }), ...(error !== undefined && { error }) }
  }
  const envelope = isObject ? readEnvelope(text, 0) : undefined
  if (envelope?.kind === 'invalid') return { fault: `not JSON-RPC: ${envelope.problem ?? ''}` }
  return { text }
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n')
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`
}
