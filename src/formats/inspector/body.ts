import type { SseContext } from '../../model/index.js'
import { createSseParser, findJsonValue, isFault, kindAt } from '../../wire/index.js'

/** JSON that an HTTP body brought. */
export interface BodyMessage {
  /** Exact JSON text of an object or an array. */
  readonly text: string
  readonly sse?: SseContext
}

/** What a body held. `rest` are events that are no JSON object or array. */
export interface BodyReading {
  readonly messages: readonly BodyMessage[]
  readonly rest: readonly { readonly sse: SseContext; readonly data: string }[]
  /** The body was JSON, or an event stream. */
  readonly isUnderstood: boolean
}

/** Events larger than that are passed over. */
const largestEvent = 256 * 1024 * 1024

/** @param mimeType of the body, as its header says it */
export function readBody(body: string | undefined, mimeType: string | undefined): BodyReading {
  if (body === undefined || body.trim() === '') return { messages: [], rest: [], isUnderstood: false }
  const type = mimeType?.split(';')[0]!.trim().toLowerCase()
  if (type !== 'text/event-stream') {
    const text = jsonOf(body)
    if (text !== undefined) return { messages: [{ text }], rest: [], isUnderstood: true }
  }
  const isStream = type === 'text/event-stream' || /^(?:event|data|id|retry)?:/m.test(body.slice(0, 200))
  return isStream ? eventsOf(body) : { messages: [], rest: [], isUnderstood: false }
}

function eventsOf(body: string): BodyReading {
  const parser = createSseParser({ maxBytes: largestEvent })
  const messages: BodyMessage[] = []
  const rest: { sse: SseContext; data: string }[] = []
  for (const event of [...parser.push(new TextEncoder().encode(body)), ...parser.end()]) {
    const data = event.data ?? ''
    const sse: SseContext = {
      ...(event.event !== undefined && { event: event.event }),
      ...(event.id !== undefined && { id: event.id }),
      ...(event.retry !== undefined && { retry: event.retry }),
    }
    const isMessage = event.event === undefined || event.event === '' || event.event === 'message'
    const text = isMessage ? jsonOf(data) : undefined
    if (text !== undefined) messages.push({ text, sse })
    else rest.push({ sse, data })
  }
  return { messages, rest, isUnderstood: true }
}

/** A whole object or array of JSON. */
export function jsonOf(text: string): string | undefined {
  const span = findJsonValue(text)
  if (isFault(span)) return undefined
  const kind = kindAt(text, span.start)
  return kind === 'object' || kind === 'array' ? text.slice(span.start, span.end) : undefined
}
