import type { MessageRecord, Part, Transport } from '../../model/index.js'
import { kindAt, partsOf, readEnvelope } from '../../wire/index.js'
import { Members } from './members.js'
import { isId, isRepresentable } from './representable.js'
import { isWritable, messageTime, parseMicros } from './time.js'

/** Data common to the entries of one session file. */
export interface EntryContext {
  /** Start of the session, microseconds since the epoch. */
  readonly startMicros: number
  readonly transport: Transport
}

/** Data of a message in addition to its record. */
export interface EntryPlace {
  readonly proxyId: string
  readonly sequence: number
  readonly correlatedId: string | undefined
}

/** The members of one `ProxyMessage`, in the documented order. */
export function entryOf(
  record: MessageRecord,
  part: Part,
  place: EntryPlace,
  context: EntryContext,
): Members {
  // An edited message keeps the id and method with which it arrived.
  const before = record.batch ? elementBefore(record, part) : record.original
  const original = before !== undefined && keepsOriginal({ ...record, original: before }) ? before : undefined
  const modified = record.modified === true && before !== record.raw.slice(part.start, part.end)
  const { id, method } = original === undefined ? part.envelope : readEnvelope(original, 0)
  return new Members()
    .text('proxy_id', place.proxyId)
    .add('sequence', place.sequence)
    .text('timestamp', messageTime(microsOf(record, context)))
    .text('direction', record.direction)
    .text('transport', context.transport)
    .add('jsonrpc_id', id !== undefined && isId(id) ? id : 'null')
    .text('method', method ?? null)
    .text('correlated_id', place.correlatedId ?? null)
    .add('modified', String(modified || (record.modified === true && !record.batch)))
    .add('payload', record.raw.slice(part.start, part.end))
    .add('original_payload', modified || !record.batch ? original : undefined)
}

/** True when the entry of a modified message includes its `original_payload`. */
export function keepsOriginal(record: Pick<MessageRecord, 'modified' | 'original'>): boolean {
  return record.modified === true && record.original !== undefined && isRepresentable(record.original)
}

/**
 * The original of an element of an edited batch: the element with the same text, or else with its id and method.
 * Undefined when uncertain.
 */
function elementBefore(
  { raw, modified, original, direction: _ }: MessageRecord,
  part: Part,
): string | undefined {
  if (!modified || original === undefined || kindAt(original, 0) !== 'array') return undefined
  const now = raw.slice(part.start, part.end)
  const { id, method } = part.envelope
  const texts = partsOf(original).parts.map(({ start, end }) => original.slice(start, end))
  if (texts.includes(now)) return now
  const like = texts.filter((text) => {
    const envelope = readEnvelope(text, 0)
    return envelope.id === id && envelope.method === method
  })
  return like.length === 1 ? like[0] : undefined
}

/** Uses the monotonic clock if both clocks agree, since the wall clock has milliseconds only. */
export function microsOf(record: { t: string; us?: number }, context: EntryContext): number {
  const wall = parseMicros(record.t)
  const { us } = record
  if (us === undefined || !Number.isSafeInteger(us)) return wall ?? context.startMicros
  const monotonic = context.startMicros + us
  if (wall !== undefined) return Math.floor(monotonic / 1000) === Math.floor(wall / 1000) ? monotonic : wall
  return isWritable(monotonic) ? monotonic : context.startMicros
}
