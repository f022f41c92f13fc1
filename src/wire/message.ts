import type { Envelope } from '../model/index.js'
import { holdsMessages, partsOf, speaksJsonRpc } from './batch.js'
import { readEnvelope } from './envelope.js'
import { findJsonValue, isFault, type JsonFault } from './json-text.js'

/** One JSON-RPC message: its exact text and its envelope. */
export interface Message {
  readonly text: string
  readonly envelope: Envelope
}

/** The messages of one JSON text, by position. */
export interface FrameText {
  /** Exact JSON text, without surrounding white space. */
  readonly text: string
  readonly batch: boolean
  readonly parts: readonly { readonly envelope: Envelope; readonly start: number; readonly end: number }[]
}

/** Reads the messages of a text. JSON that is not JSON-RPC has one part of kind `invalid`. */
export function readMessages(text: string): FrameText | JsonFault {
  const span = findJsonValue(text)
  if (isFault(span)) return span
  return readParts(text.slice(span.start, span.end))
}

/** Like `readMessages`, for a text that is known to be JSON without surrounding white space. */
export function readParts(text: string): FrameText {
  const { batch, parts } = partsOf(text)
  return {
    text,
    batch,
    parts: parts.map(({ start, end }) => ({ envelope: readEnvelope(text, start), start, end })),
  }
}

/** Reads an object, or an array that begins with one. Undefined for noise, which is forwarded. */
export function readFrame(text: string): FrameText | undefined {
  const exact = exactFrame(text, true)
  return exact === undefined ? undefined : readParts(exact)
}

/**
 * As `readFrame`, on one line. Line breaks are white space in JSON, but end a message on stdio and on the tape.
 *
 * @param hasControls false if the text is known to contain no control characters
 */
export function readLine(text: string, hasControls = true): FrameText | undefined {
  const exact = exactFrame(text, hasControls)
  if (exact === undefined) return undefined
  return readParts(hasControls ? exact.replaceAll(/[\r\n]/g, ' ') : exact)
}

function exactFrame(text: string, hasControls: boolean): string | undefined {
  const span = findJsonValue(text, 0, text.length, hasControls)
  if (isFault(span) || !holdsMessages(text, span.start)) return undefined
  return text.slice(span.start, span.end)
}

/** Whether any message has a member `jsonrpc`. Over HTTP, other JSON is common. */
export function isSpoken({ text, parts }: FrameText): boolean {
  return parts.some(({ start }) => speaksJsonRpc(text, start))
}

/** Each message with its own text. */
export function messagesOf({ text, batch, parts }: FrameText): Message[] {
  return parts.map(({ envelope, start, end }) => ({ text: batch ? text.slice(start, end) : text, envelope }))
}

/**
 * The messages of a text, each on one line, even in a batch. Undefined when a part is not an object with a member
 * `jsonrpc`.
 */
export function messagesIn(text: string): Message[] | undefined {
  const frame = readLine(text)
  return frame?.parts.every(({ start }) => speaksJsonRpc(frame.text, start)) ? messagesOf(frame) : undefined
}

/** The messages of a text; none where it is not JSON. */
export function messagesOrNone(text: string): Message[] {
  const frame = readMessages(text)
  return isFault(frame) ? [] : messagesOf(frame)
}
