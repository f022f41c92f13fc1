import type { HttpHeaders } from '../model/index.js'
import type { Redactor } from '../redaction/index.js'
import { findJsonValue, isFault } from '../wire/index.js'
import { mediaTypeOf } from './http-exchange.js'
import { textOf } from './message-text.js'

/** Characters of a body that is no message which are recorded. */
const longestText = 1024 * 1024

/** A body that is no message, as people can read it. */
export function readable(
  redactor: Redactor,
  bytes: Uint8Array,
  headers: HttpHeaders,
): { body?: string; bytes?: string } {
  const { text, bytes: encoded } = textOf(bytes)
  // What is no text may be anything: only its size is told.
  if (encoded !== undefined) return {}
  const cut = text.slice(0, longestText)
  if (mediaTypeOf(headers) === 'application/x-www-form-urlencoded') return { body: redactor.form(cut) }
  const isJson = cut.length === text.length && !isFault(findJsonValue(text))
  return { body: (isJson ? redactor.json(text.trim())?.raw : undefined) ?? redactor.text(cut) }
}
