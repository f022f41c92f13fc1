import type { HttpRecord } from '../../model/index.js'
import { contextText, entryText, isMessageEvent, jsonString, sseText } from './entry.js'
import { isDiscovery } from './headers.js'

/**
 * Replacement for the body of a 401: readers detect authorization by a 401 in a `response` entry, which must
 * hold a JSON-RPC response, but a 401 rarely has one. The code is outside the range reserved by JSON-RPC.
 */
const standIn =
  '{"jsonrpc":"2.0","id":null,"error":{"code":401,"message":"HTTP 401 without a JSON-RPC body; this error was put here by wiretape"}}'

/**
 * The entry for a record without JSON-RPC that a transcript can hold: stream events for the transport only, and
 * a 401 with authorization metadata. Undefined for everything else.
 */
export function httpEntry(
  record: HttpRecord,
  timestampMs: number,
  lastEventId: string | undefined,
  warn: (message: string) => void,
): string | undefined {
  const context = contextText(record, 'server_to_client', lastEventId)
  const { sse } = record
  if (sse) {
    const data = record.body ?? ''
    // A reader would mistake it for a message.
    if (isMessageEvent(sse) && /^\s*[{["]/.test(data)) return undefined
    return entryText({ timestampMs, context }, 'sse', sseText(sse, jsonString(data)))
  }
  if (!isDiscovery(record.status, record.headers)) return undefined
  warn(`HTTP exchange ${record.exchange} had status 401 without JSON-RPC: it is written as an error response`)
  return entryText({ timestampMs, context }, 'response', standIn)
}

/** A response that only acknowledges. SDKs add a polite word to a 202. */
export function saysNothing({ status, body, bytes, why }: HttpRecord): boolean {
  if (status === 202 && why === undefined) return true
  const isEmpty = (body ?? '') === '' && bytes === undefined && why === undefined
  return isEmpty && status !== undefined && status >= 200 && status < 300
}
