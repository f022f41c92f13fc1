import {
  isFrameRecord,
  type EndRecord,
  type HeldRecord,
  type MessageRecord,
  type TapeRecord,
} from '../../model/index.js'
import type { NewMessage } from './new-messages.js'

/** The next item of the copy: a record of the recording, or a new message with its number and times. */
export type Placed =
  | { readonly record: TapeRecord }
  | { readonly message: NewMessage; readonly at: Required<Pick<MessageRecord, 't' | 'us' | 'seq'>> }

/** Merges a recording and new messages into one order. Numbers continue, and times never go back. */
export interface CopyOrder {
  /** Takes the next record of the recording, except the last line. */
  take(record: TapeRecord): Placed[]
  /** The new messages after everything recorded. */
  rest(): Placed[]
  /** The last line, adapted to the copy. */
  ending(end: EndRecord): EndRecord
}

/** Microseconds between recorded and new messages. */
const pauseUs = 1_000

/**
 * @param added in the order of their places
 * @param isLeftOut by number: the message is not copied
 */
export function createCopyOrder(
  added: Iterator<NewMessage, void, undefined>,
  isLeftOut: (number: number) => boolean,
): CopyOrder {
  let waiting = added.next()
  let startedMs = NaN
  /** The next number in the recording, and in the copy. */
  let expected = 0
  let next = 0
  let messages = 0
  /** Time of the last record in the copy. */
  let lastUs = 0
  /** Current delay of the copy against the recording. */
  let shiftUs = 0
  /** The last item was a new message. */
  let isAfterNew = false
  /** By id, held messages: they got their number on arrival. */
  const held = new Map<string, { readonly seq: number; readonly shiftUs: number } | undefined>()

  function placeUpTo(number: number): Placed[] {
    const placed: Placed[] = []
    let beforeMs: number | undefined
    for (; !waiting.done && waiting.value.place < number; waiting = added.next()) {
      const message = waiting.value
      lastUs += beforeMs === undefined ? pauseUs : Math.max(0, Math.round((message.atMs - beforeMs) * 1_000))
      beforeMs = message.atMs
      const ms = startedMs + lastUs / 1_000
      placed.push({ message, at: { t: new Date(ms).toISOString(), us: lastUs, seq: next } })
      next += 1
      messages += 1
      isAfterNew = true
    }
    return placed
  }

  function usOf({ t, us }: { readonly t: string; readonly us?: number }): number {
    const known = us ?? (Date.parse(t) - startedMs) * 1_000
    return Number.isFinite(known) ? known : lastUs - shiftUs
  }

  /** A record with its times delayed. */
  function shifted<T extends { readonly t: string; readonly us?: number }>(record: T, by = shiftUs): T {
    if (by === 0) return record
    const ms = Date.parse(record.t) + by / 1_000
    return {
      ...record,
      ...(Number.isFinite(ms) && { t: new Date(ms).toISOString() }),
      ...(record.us !== undefined && { us: record.us + by }),
    }
  }

  /** Advances to the time of a record. After new messages a kept one is delayed: time never goes back. */
  function reach(record: { readonly t: string; readonly us?: number }, isKept: boolean): void {
    const us = usOf(record)
    if (isKept && isAfterNew) shiftUs = Math.max(shiftUs, lastUs - us)
    isAfterNew &&= !isKept
    lastUs = Math.max(lastUs, us + shiftUs)
  }

  function takeFrame(record: MessageRecord | HeldRecord): Placed[] {
    const id = record.parts[0]?.id ?? ''
    if (record.type === 'message' && held.has(id)) {
      const known = held.get(id)
      held.delete(id)
      if (!known) return []
      messages += record.parts.length
      return [{ record: { ...shifted(record, known.shiftUs), seq: known.seq } }]
    }
    const number = record.seq ?? expected
    const before = placeUpTo(number)
    const isGone = record.parts.every((_, i) => isLeftOut(number + i))
    reach(record, !isGone)
    next += Math.max(0, number - expected)
    expected = number + record.parts.length
    if (record.type === 'held') held.set(id, isGone ? undefined : { seq: next, shiftUs })
    if (isGone) return before
    const placed = { record: { ...shifted(record), seq: next } }
    next += record.parts.length
    if (record.type === 'message') messages += record.parts.length
    return [...before, placed]
  }

  return {
    take(record) {
      if (isFrameRecord(record)) return takeFrame(record)
      if (record.type === 'meta' || record.type === 'end' || record.type === 'unknown') {
        if (record.type === 'meta' && !(startedMs >= 0)) startedMs = Date.parse(record.startedAt)
        return [{ record }]
      }
      if (record.type === 'dropped' && held.has(record.id)) {
        const known = held.get(record.id)
        held.delete(record.id)
        if (!known) return []
      }
      reach(record, true)
      return [{ record: shifted(record) }]
    },
    rest: () => placeUpTo(Infinity),
    ending(end) {
      const { redacted: _, ...wiretape } = end.wiretape ?? {}
      const us = Math.max(shiftUs, lastUs - (end.durationMs ?? 0) * 1_000)
      const { t, durationMs } = end
      const ms = Date.parse(t) + us / 1_000
      return {
        ...end,
        ...(us > 0 && Number.isFinite(ms) && { t: new Date(ms).toISOString() }),
        durationMs: durationMs === null ? null : durationMs + Math.round(us / 1_000),
        wiretape: { ...wiretape, messages },
      }
    },
  }
}
