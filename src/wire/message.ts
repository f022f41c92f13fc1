import type { Envelope } from '../model/index.js'
import { holdsMessages, partsOf } from './batch.js'
import { readEnvelope } from './envelope.js'
import { JsonObject } from './json-object.js'
import { findJsonValue, isFault, kindAt, type JsonFault } from './json-text.js'

/** One JSON-RPC message: its exact text, and what it says of itself. */
export interface Message {
  readonly text: string
  readonly envelope: Envelope
}

/** The messages of one JSON text, by their places in it. */
export interface FrameText {
  /** Exact JSON text, without white space around it. */
  readonly text: string
  readonly batch: boolean
  readonly parts: readonly { readonly envelope: Envelope; readonly start: number; readonly end: number }[]
}

/** The way from text to meaning. What is JSON but no JSON-RPC has one part of kind `invalid`. */
export function readMessages(text: string): FrameText | JsonFault {
  const span = findJsonValue(text)
  if (isFault(span)) return span
  const isBare = span.start === 0 && span.end === text.length
  return readParts(isBare ? text : text.slice(span.start, span.end))
}

/** As `readMessages`, of a text that is known to be JSON without white space around it. */
export function readParts(text: string): FrameText {
  const { batch, parts } = partsOf(text)
  return {
    text,
    batch,
    parts: parts.map(({ start, end }) => ({ envelope: readEnvelope(text, start), start, end })),
  }
}

/** An object, or an array of such. Undefined for what is no JSON, or other JSON: noise is passed on. */
export function readFrame(text: string): FrameText | undefined {
  const span = findJsonValue(text)
  if (isFault(span) || !holdsMessages(text, span.start)) return undefined
  const isBare = span.start === 0 && span.end === text.length
  return readParts(isBare ? text : text.slice(span.start, span.end))
}

/** Each with a text of its own. */
export function messagesOf({ text, batch, parts }: FrameText): Message[] {
  return parts.map(({ envelope, start, end }) => ({ text: batch ? text.slice(start, end) : text, envelope }))
}

/**
 * The messages in a text, each on one line, also where they are a batch. Undefined for what is no JSON-RPC: not even
 * a member `jsonrpc` says so.
 */
export function messagesIn(text: string): Message[] | undefined {
  const span = findJsonValue(text)
  if (isFault(span)) return undefined
  // Line breaks inside of JSON are white space, and the end of a message on stdio.
  const raw = text.slice(span.start, span.end).replaceAll(/[\r\n]/g, ' ')
  const frame = readParts(raw)
  const speaks = frame.parts.every(
    ({ start }) => kindAt(raw, start) === 'object' && new JsonObject(raw, start).has('jsonrpc'),
  )
  return speaks ? messagesOf(frame) : undefined
}

/** The messages of a text; none where it is not JSON. */
export function messagesOrNone(text: string): Message[] {
  const frame = readMessages(text)
  return isFault(frame) ? [] : messagesOf(frame)
}
