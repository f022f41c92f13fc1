import { createRecent } from './recent.js'
import type { EntryTable } from './entry-table.js'
import { isAnswer } from './envelope.js'
import { isFrameRecord, isLoneRecord } from './record-types.js'
import type { FrameRecord, Part, TapeRecord } from './record.js'

/** Rows that a record speaks of, as the fold of the same records numbers them. */
export interface Rows {
  readonly first: number
  readonly count: number
}

/** Takes the records in the order of the file. */
export function createRowNumbers(): (record: TapeRecord) => Rows {
  /** Rows of held messages that go on later in the file, by the id of the first of a frame. */
  const held = new Map<string, Rows>()
  let next = 0
  const add = (count: number): Rows => {
    const rows = { first: next, count }
    next += count
    return rows
  }
  function addFrame(record: FrameRecord): Rows {
    const id = record.parts[0]?.id ?? ''
    const waited = record.type === 'message' ? held.get(id) : undefined
    if (waited?.count === record.parts.length) {
      held.delete(id)
      return waited
    }
    const rows = add(record.parts.length)
    if (record.type === 'held') held.set(id, rows)
    return rows
  }
  return (record) => {
    if (isFrameRecord(record)) return addFrame(record)
    return isLoneRecord(record) ? add(1) : { first: next, count: 0 }
  }
}

/** What a request was about, for its answer. */
export interface NamedRequest {
  readonly method: string
  readonly subject?: string
}

/** A row with what its record says of it. */
export interface WalkedRow {
  readonly row: number
  /** Of a message. */
  readonly part?: Part
  /** Of an answer: what its request was about. Not of one that comes late by far. */
  readonly request?: NamedRequest
}

const answeredKept = 4096

/**
 * The rows of a recording by its records, each row once: a held message that is passed on has its row when it is, and
 * not before. Takes the records in the order of the file; where some are left out, with the rows of each.
 */
export function createRowWalk(
  entries: EntryTable,
): (record: TapeRecord, rows?: Rows) => readonly WalkedRow[] {
  const numbers = createRowNumbers()
  /** Requests that an answer will want to name, by their row. */
  const asked = new Map<number, NamedRequest>()
  /** The last ones that were answered: for answers that come late. */
  const answered = createRecent<NamedRequest, number>({ entries: answeredKept })

  function requestOf(peer: number): NamedRequest | undefined {
    const request = asked.get(peer)
    if (!request) return answered.get(peer)
    asked.delete(peer)
    answered.set(peer, request)
    return request
  }

  function walkPart(part: Part, row: number): WalkedRow {
    const { kind, method = '', subject } = part.envelope
    if (kind === 'request' && entries.peer(row) >= 0)
      asked.set(row, { method, ...(subject !== undefined && { subject }) })
    const peer = entries.peer(row)
    const request = isAnswer(part.envelope) ? requestOf(peer) : undefined
    return { row, part, ...(request && { request }) }
  }

  return (record, rows = numbers(record)) => {
    const { first, count } = rows
    if (count === 0) return []
    if (!isFrameRecord(record)) return [{ row: first }]
    if (record.type === 'held' && isPassedOn(entries, first)) return []
    return record.parts.map((part, i) => walkPart(part, first + i))
  }
}

function isPassedOn(entries: EntryTable, row: number): boolean {
  return !entries.has(row, 'waiting') && !entries.has(row, 'dropped')
}
