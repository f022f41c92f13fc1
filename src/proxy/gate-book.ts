import { randomUUID } from 'node:crypto'
import type { FrameVerdict, GateEntry } from '../intercept/index.js'
import type { DroppedRecord, GapRecord, HeldRecord, MessageRecord, NoteRecord, Part } from '../model/index.js'
import { idKey, partsOf, readEnvelope } from '../wire/index.js'
import type { Redactor } from '../redaction/index.js'
import { rewritten } from './message-text.js'

/** When a line is written. */
interface Stamp {
  readonly t: string
  readonly us: number
}

type EntryOf<K extends GateEntry['kind']> = Extract<GateEntry, { kind: K }>

/** Makes the lines of the tape that tell what was decided at the gate. Keeps what is held. */
export interface GateBook {
  /** What the verdict makes of a message that came. */
  judged(message: MessageRecord, id: string, verdict: FrameVerdict): MessageRecord | HeldRecord
  /** Undefined when nothing is held under that id: its frame was lost. */
  released(entry: EntryOf<'release'>, stamp: Stamp): MessageRecord | GapRecord | undefined
  dropped(entry: EntryOf<'drop'>, stamp: Stamp): DroppedRecord | undefined
}

/**
 * @param resumed a recording thread before this one may have recorded what is held
 * @param onRenamed a request goes on under another id than it came with: its answer will name that one
 */
export function createGateBook(
  redactor: Redactor,
  onRenamed: (message: MessageRecord | HeldRecord, part: Part, newId: string) => void,
  resumed = false,
): GateBook {
  const held = new Map<string, HeldRecord>()

  /** The message with another text in its place. */
  function changed(message: MessageRecord, text: string, kept?: readonly number[]): MessageRecord {
    const { utf8: _, bytes: _b, red: _r, ...rest } = message
    const { batch, parts: spans } = partsOf(text)
    const left = kept ? kept.map((i) => message.parts[i]!) : [...message.parts]
    const inOrder = spans.length === left.length
    const parts = spans.map(({ start, end }): Part => {
      const envelope = readEnvelope(text, start)
      const before = inOrder ? left.shift() : takeLike(left, envelope.id)
      if (before && envelope.kind === 'request' && envelope.id !== undefined) {
        const { id } = before.envelope
        if (id === undefined || idKey(id) !== idKey(envelope.id)) onRenamed(message, before, envelope.id)
      }
      return { ...(before ?? { id: randomUUID() }), envelope, start, end }
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
    judged(message, id, verdict) {
      const [first, ...others] = message.parts
      const parts = [{ ...first!, id }, ...others]
      const { rule } = verdict
      const named = { ...message, parts, ...(rule !== undefined && { rule }) }
      if (verdict.kind === 'ours') return { ...named, injected: true }
      if (verdict.kind === 'pass')
        return verdict.text === undefined ? named : changed(named, verdict.text, verdict.kept)
      const { utf8: _, type: _t, ...frame } = named
      const record: HeldRecord = { ...frame, type: 'held' }
      held.set(id, record)
      return record
    },
    released({ id, heldMs, text, kept, rule, sent }, stamp) {
      const record = held.get(id)
      if (!record) return resumed ? goneGap(stamp, sent.sizeBytes) : undefined
      held.delete(id)
      const message: MessageRecord = { ...record, type: 'message' }
      const released = text === undefined ? message : changed(message, text, kept)
      return { ...released, heldMs, ...(rule !== undefined && { rule }) }
    },
    dropped({ id, why, rule }, stamp) {
      // Where another thread recorded that it is held, its line is on the tape.
      if (!held.delete(id) && !resumed) return undefined
      return { type: 'dropped', ...stamp, id, why, ...(rule !== undefined && { rule }) }
    },
  }
}

/** What went on was held by a recording thread that died. */
function goneGap(stamp: Stamp, lostBytes: number): GapRecord {
  const why = 'a message that was held when a recording thread died was forwarded unrecorded'
  return { type: 'gap', ...stamp, lost: 1, lostBytes, why }
}

/** What a person said goes by the same rules as what was recorded. */
export function noteOf(
  { text, about, restart }: EntryOf<'note'>,
  stamp: Stamp,
  redactor: Redactor,
): NoteRecord {
  const more = { ...(about !== undefined && { about }), ...(restart && { restart }) }
  return { type: 'note', ...stamp, text: redactor.text(text), ...more }
}

/** The element of a batch that has the id, or the next one without any. */
function takeLike(left: Part[], id: string | undefined): Part | undefined {
  const at = left.findIndex(({ envelope }) =>
    id === undefined
      ? envelope.id === undefined
      : envelope.id !== undefined && idKey(envelope.id) === idKey(id),
  )
  return at < 0 ? undefined : left.splice(at, 1)[0]
}
