import type { MessageRecord, UndeliveredRecord } from '../model/index.js'
import { AskedRequests } from './http-exchange.js'
import type { HttpMessages } from './http-messages.js'

/** Records for a message without a connected client: the message, without a place in HTTP, and its `undelivered`. */
export function unheardRecords(
  messages: Pick<HttpMessages, 'read'>,
  bytes: Uint8Array,
  conversation: string,
  stamp: { readonly t: string; readonly us: number },
): readonly [MessageRecord, UndeliveredRecord] | [] {
  const direction = 'server_to_client'
  const frame = messages.read({ number: -1, conversation, requests: new AskedRequests() }, bytes, direction)
  if (!frame) return []
  const message: MessageRecord = { type: 'message', ...stamp, direction, ...frame, conversation }
  const why = 'no client was connected'
  return [message, { type: 'undelivered', ...stamp, id: frame.parts[0]!.id!, why }]
}
