import type { Recording } from '../formats/index.js'
import { matchFilter, rowSubject, type Filter } from '../filter/index.js'
import {
  createFold,
  type EntryTable,
  type EndRecord,
  type Fold,
  type MetaRecord,
  type TapeRecord,
  type Transport,
  createRowNumbers,
  createRowWalk,
  type Rows,
  type WalkedRow,
} from '../model/index.js'
import { idKey } from '../wire/index.js'
import type { FindingsByRow } from '../findings/index.js'
import { foundFor } from './inspect/sieve.js'
import { filterOption, lastMomentOf } from './filter-option.js'
import type { OpenRecording } from './recordings.js'

/**
 * Filters a recording: keeps whole exchanges with a matching message, and other matching rows. Gaps stay, since
 * their content is unknown. Message numbers do not change.
 */
export async function filteredRecording(
  recording: Pick<OpenRecording, 'records'>,
  text: string,
): Promise<(recording: Recording) => Recording> {
  const found = await foundFor(filterOption(text))
  const fold = createFold(idKey)
  const finding = found?.watch(fold)
  const mentioned = new Set<string>()
  for await (const record of recording.records()) {
    const rows = fold.push(record)
    finding?.(record, rows)
    const id = mentionedBy(record)
    // A copy: a slice would keep the whole line of the tape in memory.
    if (id !== undefined) mentioned.add(Buffer.from(id).toString())
  }
  const filter = filterOption(text, lastMomentOf([fold]))
  const kept = await keptRows(recording, fold, filter, found?.of(fold))
  return (whole) => ({
    records: () => keptRecords(whole, { entries: fold.entries, kept, mentioned, filter: text }),
  })
}

/** For each row, 1 if kept. */
async function keptRows(
  recording: Pick<OpenRecording, 'records'>,
  { entries }: Fold,
  filter: Filter,
  found: FindingsByRow | undefined,
): Promise<Uint8Array> {
  const kept = new Uint8Array(entries.length)
  const batches: Rows[] = []
  const cancels = createCancels(entries)
  const walk = createRowWalk(entries)
  let transport: Transport | null = null
  for await (const record of recording.records()) {
    if (record.type === 'meta') transport = record.wiretape?.transport ?? 'stdio'
    const rows = walk(record)
    for (const walked of rows) {
      const findings = found?.at(walked.row)
      const subject = rowSubject({ entries, record, transport, ...walked, ...(findings && { findings }) })
      const isKept = record.type === 'gap' || matchFilter(filter, subject)
      if (isKept) kept[walked.row] = 1
    }
    cancels.see(record, rows)
    if (rows.length > 1) batches.push({ first: rows[0]!.row, count: rows.length })
  }
  // The elements of a batch are sent together and bring their exchanges.
  for (let grown = true; grown;) {
    wholeExchanges(entries, kept)
    cancels.keep(kept)
    grown = wholeBatches(batches, kept)
  }
  return kept
}

/** Cancellations: without them, requests would be unanswered. */
function createCancels(entries: EntryTable): {
  see(record: TapeRecord, rows: readonly WalkedRow[]): void
  /** Keeps the cancellations of kept requests. */
  keep(kept: Uint8Array): void
} {
  /** Alternating: row of a cancellation, row of its request. */
  const pairs: number[] = []
  /** Cancelled requests without a response, by HTTP exchange: a client may end the exchange instead. */
  const open = new Map<number, number>()
  return {
    see(record, rows) {
      if (record.type === 'http') {
        const request = record.why?.startsWith('client: ') ? open.get(record.exchange) : undefined
        if (request !== undefined) pairs.push(rows[0]!.row, request)
        return
      }
      if (record.type !== 'message') return
      for (const { row, part } of rows) {
        if (part?.envelope.cancels !== undefined && entries.linked(row) >= 0)
          pairs.push(row, entries.linked(row))
        if (part?.envelope.kind === 'request' && record.http && entries.has(row, 'cancelled'))
          open.set(record.http.exchange, row)
      }
    },
    keep(kept) {
      for (let i = 0; i < pairs.length; i += 2) if (kept[pairs[i + 1]!]) kept[pairs[i]!] = 1
    },
  }
}

function wholeExchanges(entries: EntryTable, kept: Uint8Array): void {
  const isAnswer = (row: number): boolean => entries.peer(row) >= 0 && entries.kind(row) !== 'request'
  for (let row = 0; row < kept.length; row += 1) if (kept[row] && isAnswer(row)) kept[entries.peer(row)] = 1
  for (let row = 0; row < kept.length; row += 1) if (isAnswer(row) && kept[entries.peer(row)]) kept[row] = 1
}

/** Whether rows were added. */
function wholeBatches(batches: readonly Rows[], kept: Uint8Array): boolean {
  let grown = false
  for (const { first, count } of batches) {
    const rows = kept.subarray(first, first + count)
    if (!rows.includes(1) || !rows.includes(0)) continue
    rows.fill(1)
    grown = true
  }
  return grown
}

interface Excerpt {
  readonly entries: EntryTable
  readonly kept: Uint8Array
  readonly mentioned: ReadonlySet<string>
  readonly filter: string
}

/** The message that a record refers to. */
function mentionedBy(record: TapeRecord): string | undefined {
  if (record.type === 'dropped' || record.type === 'undelivered') return record.id
  return record.type === 'note' ? record.about : undefined
}

async function* keptRecords(
  recording: Recording,
  { entries, kept, mentioned, filter }: Excerpt,
): AsyncGenerator<TapeRecord, void, undefined> {
  const numbers = createRowNumbers()
  /** Ids of kept messages that other records mention. */
  const names = new Set<string>()
  let messages = 0
  for await (const record of recording.records()) {
    const { first, count } = numbers(record)
    switch (record.type) {
      case 'meta':
        messages = 0
        yield excerpt(record, filter)
        break
      case 'end':
        yield recounted(record, messages)
        break
      case 'message':
      case 'held':
        if (!kept[first]) break
        if (record.type === 'message') messages += count
        for (const { id } of record.parts) if (id !== undefined && mentioned.has(id)) names.add(id)
        yield record.seq === undefined ? { ...record, seq: entries.seq(first) } : record
        break
      default: {
        const about = mentionedBy(record)
        if (count > 0 ? kept[first] : about === undefined || names.has(about)) yield record
      }
    }
  }
}

/** Adds the filter of the excerpt to its metadata. */
function excerpt(meta: MetaRecord, filter: string): MetaRecord {
  if (!meta.wiretape) return meta
  const metadata = new Map([...meta.wiretape.metadata, ['filter', JSON.stringify(filter)]])
  return { ...meta, wiretape: { ...meta.wiretape, metadata: [...metadata] } }
}

function recounted(end: EndRecord, messages: number): EndRecord {
  return end.wiretape ? { ...end, wiretape: { ...end.wiretape, messages } } : end
}
