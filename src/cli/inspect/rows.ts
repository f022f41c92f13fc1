import type { Direction, EntryKind, EntryTable, Part, TapeRecord } from '../../model/index.js'
import { isUnanswered } from '../../model/index.js'
import type { LoadedRecording } from '../recordings.js'

/** One line of the list: what one record or one message of it says, with what only the whole tells. */
export interface InspectRow {
  readonly recording: LoadedRecording
  readonly kind: EntryKind
  readonly direction: Direction
  readonly record: TapeRecord
  /** Set for messages. */
  readonly part?: Part
  /** Exact text of the message; '' for other rows. */
  readonly raw: string
  /** Message number; -1 for other rows. */
  readonly seq: number
  readonly t: string
  /** Microseconds since the session began. */
  readonly us: number
  readonly sizeBytes: number
  /** Between the request and this answer to it. */
  readonly latencyUs?: number
  /** For an answer: what the request was. */
  readonly request?: { readonly seq: number; readonly method: string; readonly subject?: string }
  readonly facts: ReadonlySet<Fact>
}

/** What makes a row worth a second look. */
export type Fact =
  | 'unanswered'
  | 'late'
  | 'orphan'
  | 'duplicate'
  | 'tool-error'
  | 'cancelled'
  | 'undelivered'
  | 'batch'

/** Rows of several recordings by wall clock; within one recording the order of its file. */
export async function* mergedRows(
  recordings: readonly LoadedRecording[],
): AsyncGenerator<InspectRow, void, undefined> {
  const sources = recordings.map((recording) => rowsOf(recording))
  const heads = await Promise.all(sources.map(async (source) => (await source.next()).value ?? undefined))
  for (;;) {
    let first = -1
    for (let i = 0; i < heads.length; i += 1) {
      if (heads[i] && (first === -1 || wallMs(heads[i]!) < wallMs(heads[first]!))) first = i
    }
    if (first === -1) return
    yield heads[first]!
    heads[first] = (await sources[first]!.next()).value ?? undefined
  }
}

function wallMs(row: InspectRow): number {
  const ms = Date.parse(row.t)
  return Number.isNaN(ms) ? 0 : ms
}

async function* rowsOf(recording: LoadedRecording): AsyncGenerator<InspectRow, void, undefined> {
  const { entries } = recording.fold
  /** Requests that an answer will want to name. */
  const asked = new Map<number, NonNullable<InspectRow['request']>>()
  let next = 0
  for await (const record of recording.records()) {
    if (record.type === 'message') {
      for (const part of record.parts) yield messageRow(recording, record, part, next++, asked)
    } else if (record.type === 'noise' || record.type === 'stderr' || record.type === 'gap') {
      const row = next++
      yield { recording, record, raw: '', t: record.t, facts: none, ...columnsOf(entries, row) }
    }
  }
}

function messageRow(
  recording: LoadedRecording,
  record: Extract<TapeRecord, { type: 'message' }>,
  part: Part,
  row: number,
  asked: Map<number, NonNullable<InspectRow['request']>>,
): InspectRow {
  const { entries } = recording.fold
  const { envelope } = part
  const peer = entries.peer(row)
  const isAnswer = envelope.kind === 'result' || envelope.kind === 'error'
  const request = isAnswer ? asked.get(peer) : undefined
  if (isAnswer) asked.delete(peer)
  if (envelope.kind === 'request' && entries.has(row, 'answered')) {
    const { method = '', subject } = envelope
    asked.set(row, { seq: entries.seq(row), method, ...(subject !== undefined && { subject }) })
  }
  return {
    recording,
    record,
    part,
    raw: record.raw.slice(part.start, part.end),
    t: record.t,
    facts: factsOf(entries, row),
    ...columnsOf(entries, row),
    ...(isAnswer && peer >= 0 && { latencyUs: entries.us(row) - entries.us(peer) }),
    ...(request && { request }),
  }
}

function columnsOf(
  entries: EntryTable,
  row: number,
): Pick<InspectRow, 'kind' | 'direction' | 'seq' | 'us' | 'sizeBytes'> {
  return {
    kind: entries.kind(row),
    direction: entries.direction(row),
    seq: entries.seq(row),
    us: entries.us(row),
    sizeBytes: entries.size(row),
  }
}

const none: ReadonlySet<Fact> = new Set()

function factsOf(entries: EntryTable, row: number): ReadonlySet<Fact> {
  const facts = new Set<Fact>()
  if (isUnanswered(entries, row)) facts.add('unanswered')
  if (entries.has(row, 'late')) facts.add('late')
  if (entries.has(row, 'orphan')) facts.add('orphan')
  if (entries.has(row, 'duplicate')) facts.add('duplicate')
  if (entries.has(row, 'toolError')) facts.add('tool-error')
  if (entries.has(row, 'cancelled')) facts.add('cancelled')
  if (entries.has(row, 'undelivered')) facts.add('undelivered')
  if (entries.has(row, 'batch')) facts.add('batch')
  return facts.size === 0 ? none : facts
}
