import type { SseContext } from '../../model/index.js'
import { jsonIn, kindAt, SseParser } from '../../wire/index.js'

/** A part of an HTTP body: all of it, or one event. */
export interface BodyPiece {
  /** For a message, exact JSON text of an object or an array; otherwise the data of an event. */
  readonly text: string
  readonly isMessage: boolean
  readonly sse?: SseContext
}

/** Content of a body: JSON, or the events of a stream. Empty for anything else. */
export interface BodyReading {
  readonly pieces: readonly BodyPiece[]
  readonly messages: readonly BodyPiece[]
}

/** Larger events are skipped. */
const largestEvent = 256 * 1024 * 1024

/** @param mimeType of the body, from its header */
export function readBody(body: string | undefined, mimeType: string | undefined): BodyReading {
  const pieces = piecesOf(body, mimeType)
  return { pieces, messages: pieces.filter(({ isMessage }) => isMessage) }
}

function piecesOf(body: string | undefined, mimeType: string | undefined): BodyPiece[] {
  if (body === undefined || body.trim() === '') return []
  const type = mimeType?.split(';')[0]!.trim().toLowerCase()
  if (type === 'text/event-stream') return eventsOf(body)
  const text = jsonOf(body)
  if (text !== undefined) return isRpc(text) ? [{ text, isMessage: true }] : []
  return /^\ufeff?(?:event|data|id|retry)?:/.test(body) ? eventsOf(body) : []
}

function eventsOf(body: string): BodyPiece[] {
  const parser = new SseParser({ maxBytes: largestEvent })
  return [...parser.push(new TextEncoder().encode(body)), ...parser.end()].map((event) => {
    const data = event.data ?? ''
    const sse: SseContext = {
      ...(event.event !== undefined && { event: event.event }),
      ...(event.id !== undefined && { id: event.id }),
      ...(event.retry !== undefined && { retry: event.retry }),
    }
    const isMessage = event.event === undefined || event.event === '' || event.event === 'message'
    const text = isMessage ? jsonOf(data) : undefined
    return { text: text ?? data, isMessage: text !== undefined, sse }
  })
}

/** JSON of OAuth and similar protocols is no JSON-RPC. */
function isRpc(text: string): boolean {
  return kindAt(text, 0) === 'array' ? text.includes('"jsonrpc"') : /"jsonrpc"\s*:/.test(text)
}

/** A complete JSON object or array. */
function jsonOf(text: string): string | undefined {
  const span = jsonIn(text)
  if (!span) return undefined
  const kind = kindAt(text, span.start)
  return kind === 'object' || kind === 'array' ? text.slice(span.start, span.end) : undefined
}
