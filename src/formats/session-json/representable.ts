import type { Envelope } from '../../model/index.js'
import { readEnvelope } from '../../wire/index.js'
import { isDemanding } from './demanding.js'

/** The part of `isRepresentable` that concerns the envelope. */
export function isRepresentableEnvelope({ kind, id, odd, errorCode, errorMessage }: Envelope): boolean {
  if (kind === 'invalid' || odd) return false
  if (kind === 'notification' ? id !== undefined : id === undefined) return false
  if (id !== undefined && !isId(id)) return false
  return kind !== 'error' || (errorMessage !== undefined && isInteger(errorCode))
}

/**
 * Whether a message can be the payload of a session file: one JSON-RPC 2.0 request, notification, result or
 * error that the format's own reader accepts, which otherwise refuses the whole file. Ids are strings or
 * integers, `params` and `result` objects, an error has an integer code and a message.
 *
 * @param envelope result of `readEnvelope` for the text
 */
export function isRepresentable(text: string, envelope: Envelope = readEnvelope(text, 0)): boolean {
  return isRepresentableEnvelope(envelope) && !isDemanding(text)
}

/** A string or an integer, as JSON text. */
export function isId(json: string): boolean {
  return json.startsWith('"') || (json.length < 4_000 && /^-?\d+$/.test(json))
}

function isInteger(json = ''): boolean {
  return /^-?\d+$/.test(json.slice(0, 4_000))
}
