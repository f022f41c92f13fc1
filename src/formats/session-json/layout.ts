import {
  createCorrelator,
  type Correlator,
  type MessageRecord,
  type Part,
  type TapeRecord,
} from '../../model/index.js'
import { idKey } from '../../wire/index.js'
import { encodeRecord } from '../trace-v1/index.js'
import { inReach, isWellFormed } from './demanding.js'
import { entryOf, type EntryContext, type EntryPlace } from './entry.js'
import { frameNote, type PlacedEntry } from './frame-note.js'
import { keptOf, withKeptMembers } from './kept.js'
import { Members } from './members.js'
import { isRepresentable } from './representable.js'

/** Where a record goes: entries of `messages`, and what must be said about it in `metadata.wiretape.lines`. */
export interface Placed {
  readonly entries: readonly Members[]
  readonly note?: string
}

/** Lays out the records of one session, in file order. Holds what correlation needs, no payloads. */
export interface Layout {
  place(record: TapeRecord): Placed
}

/** @param own the recorder gave ids and links; in recordings of others, what has none gets them here */
export function createLayout(context: EntryContext, own: boolean): Layout {
  const correlator: Correlator<string> | undefined = own ? undefined : createCorrelator(idKey)
  let entryCount = 0
  let nextSequence = 0

  function place(record: TapeRecord): Placed {
    if (record.type !== 'message') return { entries: [], note: lineNote(record) }
    const given = record.seq ?? nextSequence
    nextSequence = Math.min(given + record.parts.length, Number.MAX_SAFE_INTEGER)
    const message = own ? record : named(record, given)
    const placed: PlacedEntry[] = []
    for (const [i, part] of message.parts.entries()) {
      if (!isRepresentable(record.raw.slice(part.start, part.end))) continue
      const ours = entryOf(message, part, placeOf(part, given, i), context)
      const kept = keptOf(record.extra, record.batch ? placed.length : undefined)
      placed.push({ part, ours, inFile: withKeptMembers(new Members().addAll([...ours]), kept) })
    }
    if (placed.length === 0) return { entries: [], note: lineNote(record) }
    const note = frameNote(message, placed, { at: entryCount, startMicros: context.startMicros, own })
    entryCount += placed.length
    const entries = placed.map(({ inFile }) => inFile)
    return note === undefined ? { entries } : { entries, note }
  }

  /** What our recorder would have given to the message. */
  function named(record: MessageRecord, seq: number): MessageRecord {
    const { direction, conversation = '' } = record
    const parts = record.parts.map((part, i) => {
      const { proxyId } = placeOf(part, seq, i)
      const { answers } = correlator!.observe({
        ref: proxyId,
        envelope: part.envelope,
        direction,
        conversation,
      })
      const correlatedId = part.correlatedId ?? answers
      return { ...part, id: proxyId, ...(correlatedId !== undefined && { correlatedId }) }
    })
    return { ...record, seq, parts }
  }

  /** A line of the tape that stands before the entry of that number. */
  function lineNote(record: TapeRecord): string {
    return `{"at":${entryCount},"line":${inReach(encodeRecord(record).trimEnd())}}`
  }

  return { place }
}

function placeOf(part: Part, first: number, index: number): EntryPlace {
  const { id, correlatedId } = part
  return {
    proxyId: isId(id) ? id : `msg-${String(first + index + 1).padStart(3, '0')}`,
    sequence: Number.isSafeInteger(first + index) ? first + index : index,
    correlatedId: correlatedId !== undefined && isWellFormed(correlatedId) ? correlatedId : undefined,
  }
}

/** The format's stricter reader wants ids that are not blank. */
function isId(id: string | undefined): id is string {
  return id !== undefined && id.trim() !== '' && isWellFormed(id)
}
