import { createRecent } from './recent.js'
import type { EntryTable } from './entry-table.js'
import { isAnswer } from './envelope.js'
import { isFrameRecord, isLoneRecord } from './record-types.js'
import type { FrameRecord, Part, TapeRecord } from './record.js'

/** Rows of a record, numbered as by the fold of the same records. */
export interface Rows {
  readonly first: number
  readonly count: number
}

/** Takes the records in the order of the file. */
export function createRowNumbers(): (record: TapeRecord) => Rows {
  /** Rows of held messages that are forwarded later in the file, by the id of a frame's first message. */
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

/** The subject of a request, for its response. */
export interface NamedRequest {
  readonly method: string
  readonly subject?: string
}

/** A row with the data of its record. */
export interface WalkedRow {
  readonly row: number
  /** For a message. */
  readonly part?: Part
  /** The request of a response. Absent for responses that are very late. */
  readonly request?: NamedRequest
}

const answeredKept = 4096

/**
 * The rows of a recording by record, each row once: a held message that is forwarded gets its row when it is
 * forwarded, not before. Takes records in file order; where some are omitted, with the rows of each.
 */
export function createRowWalk(
  entries: EntryTable,
): (record: TapeRecord, rows?: Rows) => readonly WalkedRow[] {
  const numbers = createRowNumbers()
  /** Open requests, by row, for their responses. */
  const asked = new Map<number, NamedRequest>()
  /** The last answered requests, for late responses. */
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
