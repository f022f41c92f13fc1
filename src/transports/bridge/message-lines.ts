import { findJsonValue, isFault, JsonObject, kindAt, partsOf, readEnvelope } from '../../wire/index.js'
import { isNamelessError, type Envelope } from '../../model/index.js'

/** A message as it passes a bridge: its exact text, with no line breaks around its values. */
export interface BridgedMessage {
  readonly text: string
  readonly envelope: Envelope
}

/** The messages in a JSON text, one by one also where it is a batch. Undefined for what is no JSON-RPC. */
export function messagesIn(text: string): BridgedMessage[] | undefined {
  const span = findJsonValue(text)
  if (isFault(span)) return undefined
  // Line breaks inside of JSON are white space, and the end of a message on stdio.
  const raw = text.slice(span.start, span.end).replaceAll(/[\r\n]/g, ' ')
  const messages: BridgedMessage[] = []
  for (const { start, end } of partsOf(raw).parts) {
    if (kindAt(raw, start) !== 'object' || !new JsonObject(raw, start).has('jsonrpc')) return undefined
    const own = raw.slice(start, end)
    messages.push({ text: own, envelope: readEnvelope(own, 0) })
  }
  return messages
}

/**
 * What we say ourselves where no answer comes. The code is outside of the range that JSON-RPC and MCP keep for
 * themselves: the HTTP status, where there is one.
 */
export function failureText(id: string, code: number, why: string): string {
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message: `wiretape: ${why}` })}}`
}

/** An error that names no request, for the request that it answers. Undefined for any other text. */
export function errorFor(id: string, text: string): string | undefined {
  const [message, ...others] = messagesIn(text) ?? []
  if (!message || !isNamelessError(message.envelope) || others.length > 0) return undefined
  return `{"jsonrpc":"2.0","id":${id},"error":${new JsonObject(message.text, 0).raw('error')}}`
}
