import { marksOf } from '../compare/index.js'
import type { ClientFrame } from '../link/index.js'
import type { Envelope, MessageRecord } from '../model/index.js'
import { spliceText } from '../wire/index.js'
import { clientFrame } from './client-frame.js'
import type { LiveText, LiveValues } from './live-values.js'
import type { ParamHeaders } from './param-headers.js'
import type { PlannedMessage } from './planned-frames.js'

/** A message of the client with its text in this run. */
export interface LiveMessage {
  readonly message: PlannedMessage
  /** Place in the recorded frame. */
  readonly start: number
  readonly end: number
  readonly original: string
  readonly live: LiveText
  /** Envelope of the live text, if that is the recorded text. */
  readonly known: Envelope | undefined
}

export function toLiveMessage(
  record: MessageRecord,
  message: PlannedMessage,
  values: LiveValues,
): LiveMessage {
  const { start, end, envelope } = record.parts[message.part]!
  const original = record.raw.slice(start, end)
  const live = values.apply(original, marksOf(record, message.part))
  return { message, start, end, original, live, known: live.text === original ? envelope : undefined }
}

/** The recorded frame with the texts of this run. */
export function liveFrame(
  record: MessageRecord,
  messages: readonly LiveMessage[],
  paramHeaders: ParamHeaders,
): ClientFrame {
  const edits = messages.map(({ start, end, live: { text } }) => ({ start, end, text }))
  const isWhole = messages.length === record.parts.length
  // A part of a batch, where a filter excludes the rest.
  const text = isWhole ? spliceText(record.raw, edits) : `[${edits.map((edit) => edit.text).join(',')}]`
  const lives = messages.map(({ live }) => live.text)
  const envelopes = messages.map(({ known }) => known)
  return clientFrame(text, lives, paramHeaders, envelopes)
}
