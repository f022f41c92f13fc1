import { randomUUID } from 'node:crypto'
import type { GateEntry } from '../intercept/index.js'
import type { DroppedRecord, GapRecord, HeldRecord, MessageRecord, NoteRecord, Part } from '../model/index.js'
import { idKey, readParts } from '../wire/index.js'
import type { Redactor } from '../redaction/index.js'
import { rewritten } from './message-text.js'

/** The time of a line on the tape. */
interface Stamp {
  readonly t: string
  readonly us: number
}

type EntryOf<K extends GateEntry['kind']> = Extract<GateEntry, { kind: K }>

/** Makes the tape records of decisions at the gate. Remembers held messages. */
export interface GateBook {
  /** The record of a received message, as decided. */
  judged(message: MessageRecord, entry: EntryOf<'judge'>): MessageRecord | HeldRecord
  /** Undefined when no message is held under that id, because its frame was lost. */
  settled(entry: EntryOf<'settle'>, stamp: Stamp): MessageRecord | DroppedRecord | GapRecord | undefined
}

/**
 * @param resumed whether a previous recording thread may have recorded held messages
 * @param onRenamed a request is forwarded under a new id, which its response will name
 */
export function createGateBook(
  redactor: Redactor,
  onRenamed: (message: MessageRecord | HeldRecord, part: Part, newId: string) => void,
  resumed = false,
): GateBook {
  const held = new Map<string, HeldRecord>()

  /** The message with its text replaced. */
  function changed(message: MessageRecord, text: string, kept?: readonly number[]): MessageRecord {
    const { utf8: _, bytes: _b, red: _r, ...rest } = message
    const { batch, parts: spans } = readParts(text)
    const left = kept ? kept.map((i) => message.parts[i]!) : [...message.parts]
    const inOrder = spans.length === left.length
    const parts = spans.map((span): Part => {
      const { envelope } = span
      const before = inOrder ? left.shift() : takeLike(left, envelope.id)
      if (before && envelope.kind === 'request' && envelope.id !== undefined) {
        const { id } = before.envelope
        if (id === undefined || idKey(id) !== idKey(envelope.id)) onRenamed(message, before, envelope.id)
      }
      return { ...(before ?? { id: randomUUID() }), ...span }
    })
    const redacted = redactor.json(text)
    return {
      ...rest,
      ...(redacted ? { ...rewritten(redacted, parts), red: redacted.red } : { raw: text, batch, parts }),
      modified: true,
      original: message.raw,
    }
  }

  return {
    judged(message, { id, decision, isOurs }) {
      const [first, ...others] = message.parts
      const parts = [{ ...first!, id }, ...others]
      const { verdict, rule, text, kept } = decision
      const named = { ...message, parts, ...(rule !== undefined && { rule }) }
      if (isOurs) return { ...named, injected: true }
      if (verdict !== 'hold') return text === undefined ? named : changed(named, text, kept)
      const { utf8: _, type: _t, ...frame } = named
      const record: HeldRecord = { ...frame, type: 'held' }
      held.set(id, record)
      return record
    },
    settled({ id, decision, heldMs, sent }, stamp) {
      const { verdict, rule, text, kept, why = '' } = decision
      const record = held.get(id)
      held.delete(id)
      // A previous recording thread may have written the record of the held message.
      if (!record && !resumed) return undefined
      const by = rule === undefined ? {} : { rule }
      if (verdict !== 'forward') return { type: 'dropped', ...stamp, id, why, ...by }
      if (!record) return goneGap(stamp, sent.sizeBytes)
      const message: MessageRecord = { ...record, type: 'message' }
      const released = text === undefined ? message : changed(message, text, kept)
      return { ...released, heldMs, ...by }
    },
  }
}

/** The gap for a forwarded message that was held when its recording thread died. */
function goneGap(stamp: Stamp, lostBytes: number): GapRecord {
  const why = 'a message that was held when a recording thread died was forwarded unrecorded'
  return { type: 'gap', ...stamp, lost: 1, lostBytes, why }
}

/** A person's note is redacted like recorded messages. */
export function noteOf(
  { text, about, restart }: EntryOf<'note'>,
  stamp: Stamp,
  redactor: Redactor,
): NoteRecord {
  const more = { ...(about !== undefined && { about }), ...(restart && { restart }) }
  return { type: 'note', ...stamp, text: redactor.text(text), ...more }
}

/** Takes the element of a batch with this id, or the next one without any. */
function takeLike(left: Part[], id: string | undefined): Part | undefined {
  const at = left.findIndex(({ envelope }) =>
    id === undefined
      ? envelope.id === undefined
      : envelope.id !== undefined && idKey(envelope.id) === idKey(id),
  )
  return at < 0 ? undefined : left.splice(at, 1)[0]
}
