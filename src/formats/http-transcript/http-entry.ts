import type { HttpRecord } from '../../model/index.js'
import { contextText, entryText, isMessageEvent, jsonString, sseText } from './entry.js'
import { isDiscovery } from './headers.js'

/**
 * Readers learn of authorization from a 401 in a `response` entry, which must hold a JSON-RPC answer. A 401
 * seldom has one, so this stands for what it had. The code lies outside of what JSON-RPC reserves.
 */
const standIn =
  '{"jsonrpc":"2.0","id":null,"error":{"code":401,"message":"HTTP 401 without a JSON-RPC body; this error was put here by wiretape"}}'

/**
 * The entry for what is no JSON-RPC but has a place in a transcript: events of a stream that only the transport
 * reads, and a 401 that tells where to get authorized. Undefined for everything else.
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
    // A reader would take it for a message, and it is none.
    if (isMessageEvent(sse) && /^\s*[{["]/.test(data)) return undefined
    return entryText({ timestampMs, context }, 'sse', sseText(sse, jsonString(data)))
  }
  if (!isDiscovery(record.status, record.headers)) return undefined
  warn(`HTTP exchange ${record.exchange} was a 401 without JSON-RPC: an error that says so stands for it`)
  return entryText({ timestampMs, context }, 'response', standIn)
}

/** An answer that only says yes. SDKs put a word of politeness into a 202. */
export function saysNothing({ status, body, bytes, why }: HttpRecord): boolean {
  if (status === 202 && why === undefined) return true
  const isEmpty = (body ?? '') === '' && bytes === undefined && why === undefined
  return isEmpty && status !== undefined && status >= 200 && status < 300
}
