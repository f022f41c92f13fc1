import {
  isFrameRecord,
  factsOf,
  isAnswer,
  type EntryTable,
  type Fact,
  type HeldRecord,
  type MessageRecord,
  type Part,
  createRowWalk,
  type WalkedRow,
} from '../../model/index.js'
import type { LoadedRecording } from '../recordings.js'
import type { Sieve } from './sieve.js'
import type { InspectRow } from './inspect-row.js'

/** The row with the number of its response, for lists that may omit the response. */
export function withAnswer(row: InspectRow): InspectRow {
  if (row.kind !== 'request') return row
  const { entries } = row.recording.fold
  const answer = entries.peer(row.row)
  return answer < 0 ? row : { ...row, answeredIn: entries.seq(answer) }
}

/** Selects rows, and the records to read for them. */
export type RowSieve = Pick<Sieve, 'keeps' | 'wanted'>

/**
 * Rows of several recordings by wall clock; within one recording the order of its file.
 *
 * @param sieve selects the rows. @default all rows
 */
export async function* mergedRows(
  recordings: readonly LoadedRecording[],
  sieve?: RowSieve,
): AsyncGenerator<InspectRow, void, undefined> {
  if (recordings.length === 1) return yield* rowsOf(recordings[0]!, sieve)
  const sources = recordings.map((recording) => rowsOf(recording, sieve))
  const heads = await Promise.all(sources.map(nextHead))
  for (;;) {
    let first = -1
    for (let i = 0; i < heads.length; i += 1) {
      if (heads[i] && (first === -1 || heads[i]!.wallMs < heads[first]!.wallMs)) first = i
    }
    if (first === -1) return
    yield heads[first]!.row
    heads[first] = await nextHead(sources[first]!)
  }
}

async function nextHead(
  source: AsyncGenerator<InspectRow, void, undefined>,
): Promise<{ row: InspectRow; wallMs: number } | undefined> {
  const { value: row } = await source.next()
  if (!row) return undefined
  const ms = Date.parse(row.t)
  return { row, wallMs: Number.isNaN(ms) ? 0 : ms }
}

async function* rowsOf(
  recording: LoadedRecording,
  sieve: RowSieve | undefined,
): AsyncGenerator<InspectRow, void, undefined> {
  const { entries, sessions } = recording.fold
  const walk = createRowWalk(entries)
  const numbers = requestNumbers()
  const wanted = sieve?.wanted(recording.fold)
  let number = -1
  let at = -1
  let startMs = NaN
  for await (const record of recording.records(undefined, wanted?.has)) {
    do number += 1
    while (wanted && !wanted.has(number))
    const session = sessions[at]
    if (record.type === 'meta' && (!session || record.wiretape?.session !== session.id)) {
      at += 1
      startMs = Date.parse(record.startedAt)
    }
    for (const walked of walk(record, wanted?.rowsOf(number))) {
      if (sieve && !sieve.keeps({ recording, session, record, ...walked })) {
        if (walked.part) numbered(walked.part, entries, walked.row, numbers)
        continue
      }
      const place = { recording, session, startMs, record, ...columnsOf(entries, walked.row) }
      if (isFrameRecord(record)) {
        yield { ...place, t: record.t, ...messageRow(entries, record, walked, numbers) }
      } else {
        yield { ...place, t: 't' in record ? (record.t ?? '') : '', raw: '', linked: [], facts: none }
      }
    }
  }
}

export function messageRow(
  entries: EntryTable,
  record: MessageRecord | HeldRecord,
  { row, part, request }: WalkedRow,
  numbers: RequestNumbers,
  isLive = false,
): Pick<InspectRow, 'raw' | 'linked' | 'facts'> & Partial<InspectRow> {
  if (!part) return { raw: '', linked: [], facts: none }
  const peer = entries.peer(row)
  numbered(part, entries, row, numbers)
  return {
    part,
    raw: record.raw.slice(part.start, part.end),
    linked: part.links ? part.links.map(({ to }) => numbers.get(to)) : [],
    facts: factsOf(entries, row, isLive),
    ...(isAnswer(part.envelope) && peer >= 0 && { answers: entries.seq(peer), ...latencyIn(entries, row) }),
    ...(entries.has(row, 'held') && { heldMs: entries.heldUs(row) / 1000 }),
    ...(request && { request }),
  }
}

function latencyIn(entries: EntryTable, answer: number): Pick<InspectRow, 'latencyUs' | 'waitedUs'> {
  const latencyUs = entries.latencyUs(answer)
  const waitedUs = entries.waitedUs(answer)
  return latencyUs === undefined ? {} : { latencyUs, ...(waitedUs > 0 && { waitedUs }) }
}

/** Stores a request that links may name. */
function numbered({ envelope, id }: Part, entries: EntryTable, row: number, numbers: RequestNumbers): void {
  if (envelope.kind === 'request' && id !== undefined) numbers.add(id, entries.seq(row))
}

interface RequestNumbers {
  add(proxyId: string, seq: number): void
  get(proxyId: string): number | undefined
}

/** Requests kept for links; older ones are dropped. */
const numbersKept = 32_768

export function requestNumbers(): RequestNumbers {
  let young = new Map<string, number>()
  let old = young
  return {
    add(proxyId, seq) {
      if (young.size === numbersKept) {
        old = young
        young = new Map()
      }
      // A copy: a slice would keep the whole line of the tape in memory.
      young.set(Buffer.from(proxyId).toString(), seq)
    },
    get: (proxyId) => young.get(proxyId) ?? old.get(proxyId),
  }
}

export function columnsOf(
  entries: EntryTable,
  row: number,
): Pick<InspectRow, 'row' | 'kind' | 'direction' | 'seq' | 'us' | 'sizeBytes'> {
  return {
    row,
    kind: entries.kind(row),
    direction: entries.direction(row),
    seq: entries.seq(row),
    us: entries.has(row, 'untimed') ? undefined : entries.us(row),
    sizeBytes: entries.size(row),
  }
}

const none: ReadonlySet<Fact> = new Set()
