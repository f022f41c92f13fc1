import type { HttpHeaders } from '../model/index.js'
import type { Redactor } from '../redaction/index.js'
import { jsonIn } from '../wire/index.js'
import { mediaTypeOf } from './http-exchange.js'
import { textOf } from './message-text.js'

/** Characters that are recorded of a body that is not a message. */
const longestText = 1024 * 1024

/** A readable form of a body that is not a message. */
export function readable(
  redactor: Redactor,
  bytes: Uint8Array,
  headers: HttpHeaders,
): { body?: string; bytes?: string } {
  const { text, bytes: encoded } = textOf(bytes)
  // Binary bodies may contain anything: only their size is recorded.
  if (encoded !== undefined) return {}
  const cut = text.slice(0, longestText)
  if (mediaTypeOf(headers) === 'application/x-www-form-urlencoded') return { body: redactor.form(cut) }
  const isJson = cut.length === text.length && jsonIn(text) !== undefined
  return { body: (isJson ? redactor.json(text.trim())?.raw : undefined) ?? redactor.text(cut) }
}
