import { Correlator, type MessageRecord, type Part, type TapeRecord, type Draft } from '../../model/index.js'
import { idKey } from '../../wire/index.js'
import type { Piece } from '../text-chunks.js'
import { encodeRecord, LentMessage, ownRecord, payloadLevel } from '../trace-v1/index.js'
import { inReach, isWellFormed } from './demanding.js'
import { createDroppedFrames, type DroppedFrame } from './dropped.js'
import { entryOf, type EntryContext, type EntryPlace } from './entry.js'
import { frameNote, namelessWithout, type PlacedEntry } from './frame-note.js'
import { keptOf, withKeptMembers } from './kept.js'
import { Members } from './members.js'
import { createOpenEntries } from './open-entry.js'
import { besidePlain, plainEntry } from './plain-entry.js'
import { isRepresentable } from './representable.js'

/** Output for a record: entries of `messages`, and its note in `metadata.wiretape.lines`. */
export interface Placed {
  /** For each, its indented JSON text in pieces, up to `entryEnd`. Payloads, being large, are separate pieces. */
  readonly entries: readonly (readonly Piece[])[]
  /** A last entry after `entryEnd` and a comma. */
  readonly whole?: Uint8Array
  readonly note?: string
}

/** Lays out the records of one session, in file order. Holds data for correlation, no payloads. */
export interface Layout {
  place(record: TapeRecord): Placed
  /** Output after the last record. */
  rest(): Placed
}

/** Origin of a recording. */
export interface Origin {
  /** A wiretape tape, restored unchanged. For others, missing message data is added permanently. */
  readonly own: boolean
  /** No message has an id, a number or links: they are generated, for wiretape's tapes in the file only. */
  readonly nameless: boolean
}

/** Whether the messages of a recording hold their relations to others. */
export function isRelated({ own, nameless }: Origin): boolean {
  return own && !nameless
}

/** Members that all lines lack on a wiretape tape made from another tool's recording. */
export function usualWithout({ own, nameless }: Origin): readonly string[] {
  return own && nameless ? namelessWithout : []
}

/** Layout of payloads in the file. */
export interface Spacing {
  /** One line each; otherwise several lines where that is reversible. @default false */
  readonly compact?: boolean
}

export function createLayout(
  context: EntryContext,
  origin: Origin,
  { compact = false }: Spacing = {},
): Layout {
  const { own } = origin
  const spaced = compact ? (json: string | Uint8Array): Piece => json : indented
  const usual = usualWithout(origin)
  const correlator = isRelated(origin) ? undefined : new Correlator<string>(idKey, { links: false })
  let entryCount = 0
  let nextSequence = 0
  const droppedFrames = createDroppedFrames()
  const openEntry = createOpenEntries(context)

  function place(record: TapeRecord): Placed {
    const before = droppedFrames.see(record)
    if (before.length === 0) return placeRecord(record)
    const entries = droppedEntries(before)
    const { entries: own, ...note } = placeRecord(record)
    return { entries: [...entries, ...own], ...note }
  }

  /** Entries of messages that did not cross the wire. Like other lines, their lines become notes. */
  function droppedEntries(frames: readonly DroppedFrame[]): (readonly Piece[])[] {
    const entries = frames.flatMap((frame) =>
      droppedMembers(frame, nextSequence, context).map((entry) => entryText(entry, spaced)),
    )
    entryCount += entries.length
    return entries
  }

  function placeRecord(record: TapeRecord): Placed {
    if (record.type !== 'message') return { entries: [], note: lineNote(record, entryCount) }
    const whole = record instanceof LentMessage && !correlator ? record.sessionEntry : undefined
    if (whole) {
      nextSequence = Math.min(record.seq! + 1, Number.MAX_SAFE_INTEGER)
      entryCount += 1
      return { entries: [], whole }
    }
    const given = record.seq ?? nextSequence
    nextSequence = Math.min(given + record.parts.length, Number.MAX_SAFE_INTEGER)
    const places = record.parts.map((part, i) => placeOf(part, given, i))
    if (correlator) correlate(record, places, correlator)
    return placePlain(record, places[0]!) ?? placeOther(ownRecord(record), given, places)
  }

  function placePlain(record: MessageRecord, place: EntryPlace): Placed | undefined {
    const open = record instanceof LentMessage && correlator && openEntry(record, place)
    if (open) {
      entryCount += 1
      return { entries: [[open]] }
    }
    if (usual.length > 0 && (record.seq !== undefined || record.us !== undefined)) return undefined
    const plain = plainEntry(record, place, context, correlator !== undefined)
    if (plain === undefined) return undefined
    const beside = besidePlain(record)
    if (beside !== undefined && usual.length > 0) return undefined
    const entries = [[plain, payloadOf(record, spaced)]]
    const note = beside === undefined ? {} : { note: noteText(entryCount, place.proxyId, beside) }
    entryCount += 1
    return { entries, ...note }
  }

  function placeOther(record: MessageRecord, given: number, places: readonly EntryPlace[]): Placed {
    const message = correlator ? named(record, given, places) : record
    const placed = entriesOf(message, places, context)
    if (placed.length === 0) return { entries: [], note: lineNote(record, entryCount) }
    const at = { at: entryCount, startMicros: context.startMicros, own, usual }
    // Data generated for the file only is not on the tape.
    const note = frameNote(own ? record : message, placed, at)
    entryCount += placed.length
    const entries = placed.map(({ inFile }) => entryText(inFile, spaced))
    return note === undefined ? { entries } : { entries, note }
  }

  return { place, rest: () => ({ entries: droppedEntries(droppedFrames.rest()) }) }
}

/** The entries of a frame's messages, except those that no session file can hold. */
function entriesOf(
  message: MessageRecord,
  places: readonly EntryPlace[],
  context: EntryContext,
): PlacedEntry[] {
  const placed: PlacedEntry[] = []
  for (const [i, part] of message.parts.entries()) {
    if (!isRepresentable(message.raw.slice(part.start, part.end))) continue
    const ours = entryOf(message, part, places[i]!, context)
    const kept = keptOf(message.extra, message.batch ? placed.length : undefined)
    placed.push({ part, ours, inFile: withKeptMembers(new Members().addAll([...ours]), kept) })
  }
  return placed
}

function droppedMembers(
  { held, mark }: DroppedFrame,
  nextSequence: number,
  context: EntryContext,
): Members[] {
  return held.parts.flatMap((part, i) => {
    if (!isRepresentable(held.raw.slice(part.start, part.end))) return []
    const place = placeOf(part, held.seq ?? nextSequence, i)
    const ours = entryOf({ ...held, type: 'message' }, part, place, context).add(mark[0], mark[1])
    return [withKeptMembers(ours, keptOf(held.extra, held.batch ? i : undefined))]
  })
}

/** A line of the tape that precedes the entry with that number. */
function lineNote(record: TapeRecord, at: number): string {
  return `{"at":${at},"line":${inReach(encodeRecord(record).trimEnd())}}`
}

/** A note on an entry. */
function noteText(at: number, id: string, line: string): string {
  return `{"at":${at},"id":${JSON.stringify(id)},"line":${inReach(line)}}`
}

/** Finds the requests that the parts answer. */
function correlate(
  record: MessageRecord,
  places: readonly Draft<EntryPlace>[],
  correlator: Correlator<string>,
): void {
  const { direction, conversation = '' } = record
  for (const [i, place] of places.entries()) {
    const { envelope, correlatedId } = record.parts[i]!
    const { answers } = correlator.observe({ ref: place.proxyId, envelope, direction, conversation })
    if (correlatedId === undefined && answers !== undefined) place.correlatedId = answers
  }
}

/** The message with the data that wiretape's recorder would have assigned. */
function named(record: MessageRecord, seq: number, places: readonly EntryPlace[]): MessageRecord {
  const parts = record.parts.map((part, i) => {
    const { proxyId: id, correlatedId: answers } = places[i]!
    const correlatedId = part.correlatedId ?? answers
    return correlatedId === undefined ? { ...part, id } : { ...part, id, correlatedId }
  })
  return { ...record, seq, parts }
}

function placeOf(part: Part, first: number, index: number): Draft<EntryPlace> {
  const { id, correlatedId } = part
  return {
    proxyId: isId(id) ? id : `msg-${String(first + index + 1).padStart(3, '0')}`,
    sequence: Number.isSafeInteger(first + index) ? first + index : index,
    correlatedId: correlatedId !== undefined && isWellFormed(correlatedId) ? correlatedId : undefined,
  }
}

/** The format's stricter reader rejects blank ids. */
function isId(id: string | undefined): id is string {
  return id !== undefined && id.trim() !== '' && isWellFormed(id)
}

/** End of an entry's text. */
export const entryEnd = '\n    }'

/** The members of an entry, one per line; payloads are separate pieces. */
function entryText(entry: Members, spaced: (payload: string) => Piece): Piece[] {
  const pieces: Piece[] = []
  let text = '    {'
  let separator = '\n'
  for (const [name, json] of entry) {
    text += `${separator}      ${JSON.stringify(name)}: `
    separator = ',\n'
    if (name === 'payload' || name === 'original_payload') {
      pieces.push(text, spaced(json))
      text = ''
    } else text += json
  }
  return [...pieces, text]
}

/** A reader may have indented it. */
function payloadOf(record: MessageRecord, spaced: (json: string | Uint8Array) => Piece): Piece {
  if (!(record instanceof LentMessage)) return spaced(record.raw)
  return record.encoded ?? spaced(record.utf8)
}

function indented(json: string | Uint8Array): Piece {
  return { indented: json, level: payloadLevel }
}
