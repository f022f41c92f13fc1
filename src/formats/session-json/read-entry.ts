import type { MessageRecord, Report, TapeRecord } from '../../model/index.js'
import { onOneLine, partsOf, type JsonPiece } from '../../wire/index.js'
import { decodeLine } from '../trace-v1/index.js'
import { droppedMarks } from './dropped.js'
import { entryOf, type EntryContext } from './entry.js'
import type { Entry } from './entry-file.js'
import { deriveLine, type Sayings } from './frame-note.js'
import { differing, keptName } from './kept.js'
import { mergedLine, objectText } from './members.js'
import type { FrameNote } from './read-notes.js'

/** Creates records from the entries of `messages`. */
export interface EntryReader {
  /** The next entry is a single message, and its line has all usual members of wiretape's lines. */
  readonly isPlain: boolean
  take(entry: Entry, frame: FrameNote | undefined): Generator<TapeRecord>
  /** A line of the tape that precedes the next entry. */
  see(line: TapeRecord): void
  /** No readable entry follows: an incomplete batch is returned with the available entries. */
  end(): Generator<TapeRecord>
}

/** A batch whose entries are being collected. */
interface Batch {
  readonly frame: FrameNote
  readonly between: readonly string[]
  readonly entries: Entry[]
}

/** Type of a tape line that keeps an element of `messages` without a message. */
const keptEntry = 'session-entry'

/** @param usual members that lines of the tape lack, unless a note states otherwise */
export function createEntryReader(
  context: EntryContext,
  usual: readonly string[],
  report: Report,
): EntryReader {
  let batch: Batch | undefined
  /** `proxyId` of messages with a line for being held. */
  const held = new Set<string>()

  function see(line: TapeRecord): void {
    if (line.type === 'held') for (const { id } of line.parts) if (id !== undefined) held.add(id)
  }

  function* take(entry: Entry, frame: FrameNote | undefined): Generator<TapeRecord> {
    if (isDropped(entry)) {
      yield* end()
      if (!held.delete(entry.proxyId)) yield* droppedRecords(entry, one(entry, undefined))
      return
    }
    if (frame) yield* end()
    if (frame?.between) batch = { frame, between: frame.between, entries: [] }
    if (!batch) {
      yield one(entry, frame)
      return
    }
    batch.entries.push(entry)
    if (batch.entries.length === batch.between.length - 1) yield* end()
  }

  function* end(): Generator<TapeRecord> {
    if (!batch) return
    const { frame, between, entries } = batch
    batch = undefined
    const isWhole = entries.length === between.length - 1
    const record = isWhole ? batchOf(entries, frame, between, context) : undefined
    if (record) yield record
    else {
      changed(frame.id)
      for (const entry of entries) yield one(entry, undefined)
    }
  }

  function one(entry: Entry, frame: FrameNote | undefined): MessageRecord {
    const record = frame && messageOf(entry, frame, context, usual)
    if (frame && !record) changed(frame.id)
    return record ?? messageOf(entry, undefined, context, usual)!
  }

  function changed(id: string): void {
    const message = `the file was changed: the data of ${JSON.stringify(id.slice(0, 60))} in metadata.wiretape.lines does not match its message and is left out`
    report({ severity: 'warning', code: 'changed', message })
  }

  return {
    take,
    see,
    end,
    get isPlain() {
      return batch === undefined && usual.length === 0
    },
  }
}

/** Whether the message did not cross the wire. */
function isDropped({ object }: Entry): boolean {
  return object.raw('dropped') === 'true' || object.string('answeredBy') !== undefined
}

/** The lines of a tape for a message that did not cross the wire. */
function droppedRecords(
  { object, proxyId }: Entry,
  { modified: _, original: _o, type: _t, extra, ...frame }: MessageRecord,
): TapeRecord[] {
  const rule = /^rule (.*)$/s.exec(object.string('answeredBy') ?? '')?.[1]
  const clock = { t: frame.t, ...(frame.us !== undefined && { us: frame.us }) }
  const why = object.has('answeredBy') ? 'answered in the place of the other side' : 'dropped'
  return [
    { ...frame, type: 'held', ...(extra && { extra }) },
    { type: 'dropped', ...clock, id: proxyId, why, ...(rule !== undefined && { rule }) },
  ]
}

/** Keeps an element without a message as a line that other tape readers skip. */
export function keptLine(piece: JsonPiece): TapeRecord {
  const line = [
    ['type', JSON.stringify(keptEntry)],
    ['text', JSON.stringify(piece.text)],
  ] as const
  return { type: 'unknown', name: keptEntry, text: objectText(line) }
}

/** Undefined when the note does not result in a message line. */
function messageOf(
  entry: Entry,
  frame: FrameNote | undefined,
  context: EntryContext,
  usual: readonly string[],
): MessageRecord | undefined {
  const { object } = entry
  const correlatedId = object.string('correlated_id')
  const derived = deriveLine({
    ...sayings(entry, context),
    proxyId: JSON.stringify(entry.proxyId),
    correlatedId: JSON.stringify(correlatedId ?? null),
    original: entry.original,
  })
  const record = lineOf(entry, entry.payload, derived, frame, usual)
  if (!record || frame?.line.has(keptName)) return record
  const kept = keptIn(entry, record, record.parts[0]!, context)
  return kept.length === 0 ? record : withExtra(record, objectText(kept))
}

/** Undefined when the texts and entries do not form one batch. */
function batchOf(
  entries: readonly Entry[],
  frame: FrameNote,
  between: readonly string[],
  context: EntryContext,
): MessageRecord | undefined {
  const [first] = entries
  const starts: number[] = []
  let raw = ''
  for (const [i, { payload }] of entries.entries()) {
    raw += between[i]!
    starts.push(raw.length)
    raw += payload
  }
  raw += between.at(-1)!
  // The first elements of a batch may lack an entry, but they have numbers.
  const before = partsOf(raw).parts.findIndex((part) => part.start === starts[0])
  const sequence = String(first!.sequence - before)
  const record = lineOf(first!, raw, deriveLine({ ...sayings(first!, context), sequence }), frame, [])
  const parts = starts.map((start) => record?.parts.find((part) => part.start === start))
  if (!record?.batch || parts.some((part) => part === undefined)) return undefined
  if (frame.line.has(keptName)) return record
  const kept = entries.map((entry, i) => keptIn(entry, record, parts[i]!, context))
  if (kept.every((members) => members.length === 0)) return record
  return withExtra(record, `[${kept.map(objectText).join(',')}]`)
}

function sayings(entry: Entry, context: EntryContext): Sayings {
  return {
    micros: entry.micros,
    startMicros: context.startMicros,
    sequence: String(entry.sequence),
    modified: entry.object.raw('modified') === 'true',
  }
}

/** A line of a tape, as if it had been recorded, so that one reader serves both. */
function lineOf(
  entry: Entry,
  raw: string,
  derived: ReturnType<typeof deriveLine>,
  frame: FrameNote | undefined,
  usual: readonly string[],
): MessageRecord | undefined {
  const without = frame?.without ?? usual
  const base = derived.filter(([name]) => !without.includes(name))
  const line = [
    ['dir', entry.direction === 'client_to_server' ? '"in"' : '"out"'] as const,
    ['raw', raw] as const,
    ...mergedLine(base, frame?.line.others(['type', 'dir', 'raw']) ?? []),
  ]
  const decoded = decodeLine(objectText(line))
  return 'record' in decoded && decoded.record.type === 'message' ? decoded.record : undefined
}

/** The data of the entry that wiretape would not write for the record. */
function keptIn(
  entry: Entry,
  record: MessageRecord,
  part: MessageRecord['parts'][number],
  context: EntryContext,
): readonly (readonly [string, string])[] {
  const { object, proxyId, sequence } = entry
  const ours = entryOf(
    record,
    part,
    { proxyId, sequence, correlatedId: object.string('correlated_id') },
    context,
  )
  const isKnown = entry.original !== undefined || object.raw('original_payload') === 'null'
  const inFile = object
    .others([...droppedMarks, ...(isKnown ? ['payload', 'original_payload'] : ['payload'])])
    .map(([name, json]) => [name, onOneLine(json)] as const)
  return differing(new Map(inFile), ours)
}

function withExtra(record: MessageRecord, kept: string): MessageRecord {
  return { ...record, extra: [...(record.extra ?? []), [keptName, kept]] }
}
