import {
  createCorrelator,
  type Correlator,
  type MessageRecord,
  type Part,
  type TapeRecord,
} from '../../model/index.js'
import { idKey, JsonObject } from '../../wire/index.js'
import { encodeRecord } from '../trace-v1/index.js'
import { entryOf, keepsOriginal, microsOf, type EntryContext } from './entry.js'
import { keptName, keptOf, Members } from './members.js'
import { isRepresentable } from './representable.js'
import { parseMicros, tapeTime } from './time.js'

/** Where a record goes: entries of `messages`, and what must be said about it in `metadata.wiretape.lines`. */
export interface Placed {
  readonly entries: readonly Members[]
  readonly note?: string
}

/** Lays out the records of one session, in file order. Holds what correlation needs, no payloads. */
export interface Layout {
  place(record: TapeRecord): Placed
}

/** @param own the recorder gave ids and links; recordings of others are numbered and correlated here */
export function createLayout(context: EntryContext, own: boolean): Layout {
  const correlator: Correlator<string> | undefined = own ? undefined : createCorrelator(idKey)
  let entryCount = 0
  let nextSequence = 0

  function place(record: TapeRecord): Placed {
    if (record.type !== 'message') return { entries: [], note: lineNote(record) }
    const given = record.seq ?? nextSequence
    nextSequence = given + record.parts.length
    const placed: { part: Part; entry: Members }[] = []
    for (const [i, part] of record.parts.entries()) {
      const proxyId = own && part.id !== undefined ? part.id : `msg-${String(given + i + 1).padStart(3, '0')}`
      const correlatedId = correlator ? correlate(record, part, proxyId) : part.correlatedId
      if (!isRepresentable(record.raw.slice(part.start, part.end))) continue
      const place = { proxyId, sequence: given + i, correlatedId }
      placed.push({ part, entry: entryOf(record, part, place, context) })
    }
    if (placed.length === 0) return { entries: [], note: lineNote(record) }
    const note = frameNote(
      record,
      placed.map(({ part }) => part),
      placed[0]!.entry,
    )
    const entries = placed.map(({ entry }) => withKept(entry, record))
    entryCount += entries.length
    return note === undefined ? { entries } : { entries, note }
  }

  function correlate(record: MessageRecord, part: Part, proxyId: string): string | undefined {
    const { direction, conversation = '' } = record
    return correlator!.observe({ ref: proxyId, envelope: part.envelope, direction, conversation }).answers
  }

  /** A line of the tape that stands before the entry of that number. */
  function lineNote(record: TapeRecord): string {
    return `{"at":${entryCount},"line":${encodeRecord(record).trimEnd()}}`
  }

  /** What the tape says of a message and its entries do not. */
  function frameNote(record: MessageRecord, parts: readonly Part[], first: Members): string | undefined {
    const line = new JsonObject(encodeRecord(record).trimEnd(), 0)
    const said = new Set(['dir', 'raw', 'modified', keptName])
    const micros = microsOf(record, context)
    if (record.t === tapeTime(parseMicros(JSON.parse(first.get('timestamp')!) as string)!)) said.add('t')
    if (record.us !== undefined && record.us === micros - context.startMicros) said.add('us')
    if (line.raw('seq') === first.get('sequence')) said.add('seq')
    if (!record.batch) {
      if (line.raw('id') === first.get('proxy_id')) said.add('id')
      if ((line.raw('corr') ?? 'null') === first.get('correlated_id')) said.add('corr')
      if (keepsOriginal(record)) said.add('original')
    }
    const rest = line.others([...said])
    if (rest.length === 0 && !record.batch) return undefined
    const note = new Members().add('at', entryCount).add('id', first.get('proxy_id'))
    if (record.batch) note.add('between', JSON.stringify(between(record.raw, parts)))
    return String(note.add('line', String(new Members().addAll(rest))))
  }

  return { place }
}

/** The text of a batch before, between and after its entries: brackets, commas, and elements that are none. */
function between(raw: string, parts: readonly Part[]): string[] {
  const texts: string[] = []
  let from = 0
  for (const { start, end } of parts) {
    texts.push(raw.slice(from, start))
    from = end
  }
  return [...texts, raw.slice(from)]
}

/** A session file that came to us keeps its own members and its own ways to write them. */
function withKept(entry: Members, record: MessageRecord): Members {
  return record.batch ? entry : entry.addAll(keptOf(record.extra))
}
