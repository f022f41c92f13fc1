import type { HttpContext, MessageRecord, Part, SseContext } from '../../model/index.js'
import { contextHeaders, headerOf } from './headers.js'

export type TranscriptTransport = 'streamable-http' | 'http-sse'

/** The member of an entry that holds its message. */
export type Slot = 'request' | 'response' | 'sse'

/** Data around the message of an entry. */
export interface EntryPlace {
  readonly timestampMs: number
  /** `transport_context` as JSON text. */
  readonly context?: string | undefined
}

export function entryText({ timestampMs, context }: EntryPlace, slot: Slot, value: string): string {
  const contextMember = context === undefined ? '' : `"transport_context":${context},`
  return `{"timestamp_ms":${timestampMs},${contextMember}"${slot}":${value}}`
}

/** The slot of a message. Server messages on stdio are written as over the given transport. */
export function slotOf(record: MessageRecord, transport: TranscriptTransport): Slot {
  if (record.direction === 'client_to_server') return 'request'
  return record.sse || (transport === 'http-sse' && !record.http) ? 'sse' : 'response'
}

/** The exact text of a message as the value of its slot. */
export function slotText(slot: Slot, record: MessageRecord, part: Part): string {
  const text = record.raw.slice(part.start, part.end)
  if (slot !== 'sse') return text
  // Readers skip events of other names, and do not parse their data when it is a string.
  return sseText(record.sse ?? { event: 'message' }, isMessageEvent(record.sse) ? text : jsonString(text))
}

/** @param data JSON text */
export function sseText({ event, id, retry }: SseContext, data: string): string {
  const members: string[] = []
  // Clients treat an empty name as none; readers treat it as another name.
  if (event !== undefined && event !== '') members.push(`"event":${jsonString(event)}`)
  if (id !== undefined) members.push(`"id":${jsonString(id)}`)
  if (retry !== undefined) members.push(`"retry":${retry}`)
  return `{${[...members, `"data":${data}`].join(',')}}`
}

/** Whether clients and readers treat the data of an event as a message. */
export function isMessageEvent(sse: SseContext | undefined): boolean {
  return ['', 'message'].includes(sse?.event ?? '')
}

/**
 * HTTP data of an entry, as JSON text; undefined when there is none.
 *
 * @param http of the request when it has no status, otherwise of the response
 * @param lastEventId from the request of the exchange
 */
export function contextText(
  http: Pick<HttpContext, 'status' | 'headers'> | undefined,
  direction: MessageRecord['direction'],
  lastEventId?: string,
): string | undefined {
  const fromClient = direction === 'client_to_server'
  const names = contextHeaders[fromClient ? 'request' : 'response']
  const found = names.map((name) => [name, headerOf(http?.headers, name)] as const)
  if (!fromClient) found.push(['Last-Event-ID', lastEventId])
  const headers = headersText(found)
  const members: string[] = []
  if (!fromClient && http?.status !== undefined) members.push(`"status":${http.status}`)
  if (headers !== undefined) members.push(`"headers":${headers}`)
  return members.length === 0 ? undefined : `{${members.join(',')}}`
}

export function headersText(
  headers: Iterable<readonly [name: string, value: string | undefined]>,
): string | undefined {
  const members: string[] = []
  for (const [name, value] of headers) {
    if (value !== undefined) members.push(`${jsonString(name)}:${jsonString(value)}`)
  }
  return members.length === 0 ? undefined : `{${members.join(',')}}`
}

/** Readers refuse a file with a lone surrogate in any string. */
export function jsonString(text: string): string {
  return JSON.stringify(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'))
}
