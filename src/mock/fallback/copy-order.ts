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

/** Microseconds between recorded and new messages. */
const pauseUs = 1_000

/** Merges a recording and new messages into one order. Numbers continue, and times never go back. */
export class CopyOrder {
  readonly #added: Iterator<NewMessage, void, undefined>
  readonly #isLeftOut: (number: number) => boolean
  #waiting: IteratorResult<NewMessage, void>
  #startedMs: number = NaN
  /** The next number in the recording, and in the copy. */
  #expected = 0
  #next = 0
  #messages = 0
  /** Time of the last record in the copy. */
  #lastUs = 0
  /** Current delay of the copy against the recording. */
  #shiftUs = 0
  /** The last item was a new message. */
  #isAfterNew = false
  /** By id, held messages: they got their number on arrival. */
  readonly #held = new Map<string, { readonly seq: number; readonly shiftUs: number } | undefined>()

  /**
   * @param added in the order of their places
   * @param isLeftOut by number: the message is not copied
   */
  constructor(added: Iterator<NewMessage, void, undefined>, isLeftOut: (number: number) => boolean) {
    this.#added = added
    this.#isLeftOut = isLeftOut
    this.#waiting = added.next()
  }

  /** Takes the next record of the recording, except the last line. */
  take(record: TapeRecord): Placed[] {
    if (isFrameRecord(record)) return this.#takeFrame(record)
    if (record.type === 'meta' || record.type === 'end' || record.type === 'unknown') {
      if (record.type === 'meta' && !(this.#startedMs >= 0)) this.#startedMs = Date.parse(record.startedAt)
      return [{ record }]
    }
    if (record.type === 'dropped' && this.#held.has(record.id)) {
      const known = this.#held.get(record.id)
      this.#held.delete(record.id)
      if (!known) return []
    }
    this.#reach(record, true)
    return [{ record: this.#shifted(record) }]
  }

  /** The new messages after everything recorded. */
  rest(): Placed[] {
    return this.#placeUpTo(Infinity)
  }

  /** The last line, adapted to the copy. */
  ending(end: EndRecord): EndRecord {
    const { redacted: _, ...wiretape } = end.wiretape ?? {}
    const us = Math.max(this.#shiftUs, this.#lastUs - (end.durationMs ?? 0) * 1_000)
    const { t, durationMs } = end
    const ms = Date.parse(t) + us / 1_000
    return {
      ...end,
      ...(us > 0 && Number.isFinite(ms) && { t: new Date(ms).toISOString() }),
      durationMs: durationMs === null ? null : durationMs + Math.round(us / 1_000),
      wiretape: { ...wiretape, messages: this.#messages },
    }
  }

  #placeUpTo(number: number): Placed[] {
    const placed: Placed[] = []
    let beforeMs: number | undefined
    for (; !this.#waiting.done && this.#waiting.value.place < number; this.#waiting = this.#added.next()) {
      const message = this.#waiting.value
      this.#lastUs +=
        beforeMs === undefined ? pauseUs : Math.max(0, Math.round((message.atMs - beforeMs) * 1_000))
      beforeMs = message.atMs
      const ms = this.#startedMs + this.#lastUs / 1_000
      placed.push({ message, at: { t: new Date(ms).toISOString(), us: this.#lastUs, seq: this.#next } })
      this.#next += 1
      this.#messages += 1
      this.#isAfterNew = true
    }
    return placed
  }

  #usOf({ t, us }: { readonly t: string; readonly us?: number }): number {
    const known = us ?? (Date.parse(t) - this.#startedMs) * 1_000
    return Number.isFinite(known) ? known : this.#lastUs - this.#shiftUs
  }

  /** A record with its times delayed. */
  #shifted<T extends { readonly t: string; readonly us?: number }>(record: T, by = this.#shiftUs): T {
    if (by === 0) return record
    const ms = Date.parse(record.t) + by / 1_000
    return {
      ...record,
      ...(Number.isFinite(ms) && { t: new Date(ms).toISOString() }),
      ...(record.us !== undefined && { us: record.us + by }),
    }
  }

  /** Advances to the time of a record. After new messages a kept one is delayed: time never goes back. */
  #reach(record: { readonly t: string; readonly us?: number }, isKept: boolean): void {
    const us = this.#usOf(record)
    if (isKept && this.#isAfterNew) this.#shiftUs = Math.max(this.#shiftUs, this.#lastUs - us)
    this.#isAfterNew &&= !isKept
    this.#lastUs = Math.max(this.#lastUs, us + this.#shiftUs)
  }

  #takeFrame(record: MessageRecord | HeldRecord): Placed[] {
    const id = record.parts[0]?.id ?? ''
    if (record.type === 'message' && this.#held.has(id)) {
      const known = this.#held.get(id)
      this.#held.delete(id)
      if (!known) return []
      this.#messages += record.parts.length
      return [{ record: { ...this.#shifted(record, known.shiftUs), seq: known.seq } }]
    }
    const number = record.seq ?? this.#expected
    const before = this.#placeUpTo(number)
    const isGone = record.parts.every((_, i) => this.#isLeftOut(number + i))
    this.#reach(record, !isGone)
    this.#next += Math.max(0, number - this.#expected)
    this.#expected = number + record.parts.length
    if (record.type === 'held')
      this.#held.set(id, isGone ? undefined : { seq: this.#next, shiftUs: this.#shiftUs })
    if (isGone) return before
    const placed = { record: { ...this.#shifted(record), seq: this.#next } }
    this.#next += record.parts.length
    if (record.type === 'message') this.#messages += record.parts.length
    return [...before, placed]
  }
}
