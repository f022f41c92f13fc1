import { compileGuess, rowSubject, type Filter } from '../../filter/index.js'
import type { FindingsByRow } from '../../findings/index.js'
import {
  isFrameRecord,
  isMessageKind,
  createIntColumn,
  detach,
  setRow,
  type EntryTable,
  type Envelope,
  type Fold,
  type TapeRecord,
  type NamedRequest,
  type Rows,
} from '../../model/index.js'
import type { Selection } from '../recordings.js'
import type { LinePlace, PlainRow, PlainWatcher } from '../quick-load.js'

/** Records of rows, and methods and subjects of messages: a filter's first check. */
export interface RowIndex extends PlainWatcher {
  /** Records that may match a filter, with the records needed to decide it. */
  wanted(filter: Filter, found?: Pick<FindingsByRow, 'at'>): Wanted
}

export interface Wanted {
  readonly has: Selection
  /** The rows of a record. */
  rowsOf(record: number): Rows
}

/** Most distinct names; for rows with further ones, the text must be read. */
const mostNames = 50_000
/** Longer names are not stored. */
const longestName = 200
const noName = -1
const unknownName = -2

/** @param mayHold whether a line, or that of its request, may contain the searched text */
export function createRowIndex(fold: Pick<Fold, 'entries'>, mayHold?: MayHold): RowIndex {
  return new NamedRows(fold.entries, mayHold)
}

type MayHold = (place: LinePlace | undefined) => boolean

class NamedRows implements RowIndex {
  readonly takesLent = true
  readonly #entries: EntryTable
  readonly #mayHold: MayHold | undefined
  /** 1 for rows of lines that may contain the searched text. */
  readonly #held = createIntColumn(0)
  /** First row of each record; -1 without rows. */
  readonly #firstRows = createIntColumn(-1)
  /** Rows of batches. */
  readonly #counts = new Map<number, number>()
  /** Index of each row's entry in `#names`. */
  readonly #nameNumbers = createIntColumn(unknownName)
  readonly #names: NamedRequest[] = []
  /** Indexes of names, by method and subject. */
  readonly #numbers = new Map<string, Map<string | undefined, number>>()
  readonly #metas = new Set<number>()

  constructor(entries: EntryTable, mayHold: MayHold | undefined) {
    this.#entries = entries
    this.#mayHold = mayHold
  }

  take(record: TapeRecord, { first, count }: Rows, place?: LinePlace): void {
    if (this.#mayHold?.(place)) for (let i = 0; i < count; i += 1) setRow(this.#held, first + i, 1)
    if (record.type === 'meta') this.#metas.add(this.#firstRows.length)
    if (count > 1) this.#counts.set(this.#firstRows.length, count)
    this.#firstRows.push(count === 0 ? -1 : first)
    if (!isFrameRecord(record)) return
    for (let i = 0; i < count; i += 1) {
      // A held message may be forwarded edited.
      const isOpen = record.type === 'held' || first + i < this.#nameNumbers.length
      setRow(this.#nameNumbers, first + i, isOpen ? unknownName : this.#nameOf(record.parts[i]!.envelope))
    }
  }

  plain(message: PlainRow, row: number, place: LinePlace): void {
    if (this.#mayHold?.(place)) setRow(this.#held, row, 1)
    this.#firstRows.push(row)
    const { method, line } = message
    const isAnswer = line.methodStart < 0
    const hasSubject = line.subjectStart >= 0
    setRow(this.#nameNumbers, row, isAnswer ? noName : this.#plainNameOf(method, message, hasSubject))
  }

  wanted(filter: Filter, found?: Pick<FindingsByRow, 'at'>): Wanted {
    const entries = this.#entries
    const guess = compileGuess(filter.condition)
    const rows = new Uint8Array(entries.length)
    for (let row = 0; row < rows.length; row += 1) {
      if (!this.#mayMatch(row)) continue
      if (isMessage(entries, row)) {
        const name = this.#nameNumberOf(row)
        const request = this.#names[name]
        const subject = rowSubject({
          entries,
          row,
          record: anyMessage,
          transport: null,
          ...(request && { request }),
          ...(found && { findings: found.at(row) }),
        })
        if (guess(subject, name !== unknownName) === false) continue
      }
      this.#want(rows, row)
      // A linked message is shown with its request.
      const linked = entries.linked(row)
      if (linked >= 0) this.#want(rows, linked)
    }
    return {
      has: (record) => {
        if (this.#metas.has(record)) return true
        const { first, count } = this.#rowsOf(record)
        return count === 1 ? rows[first] === 1 : rows.subarray(first, first + count).includes(1)
      },
      rowsOf: (record) => this.#rowsOf(record),
    }
  }

  #nameOf({ method, subject }: Pick<Envelope, 'method' | 'subject'>): number {
    if (method === undefined) return noName
    const ofMethod = this.#numbers.get(method)
    const number = ofMethod?.get(subject)
    if (number !== undefined) return number
    const names = this.#names
    if (names.length >= mostNames || method.length + (subject?.length ?? 0) > longestName) return unknownName
    // Copies: slices would keep whole lines of the tape in memory.
    const own = { method: detach(method), ...(subject !== undefined && { subject: detach(subject) }) }
    if (ofMethod) ofMethod.set(own.subject, names.length)
    else this.#numbers.set(own.method, new Map([[own.subject, names.length]]))
    return names.push(own) - 1
  }

  #plainNameOf(method: string, message: PlainRow, hasSubject: boolean): number {
    return this.#nameOf(hasSubject ? { method, subject: message.subject } : { method })
  }

  /** Whether the line of the row, or of its request, may contain the searched text. */
  #mayMatch(row: number): boolean {
    if (!this.#mayHold || this.#isHeld(row)) return true
    const asked = isAnswerRow(this.#entries, row) ? this.#entries.peer(row) : -1
    return asked >= 0 && this.#isHeld(asked)
  }

  #isHeld(row: number): boolean {
    return row < this.#held.length && this.#held.get(row) === 1
  }

  /** Index in `#names` for the row or its request; -2 if unknown. */
  #nameNumberOf(row: number): number {
    const own = this.#nameNumbers.get(row)
    if (own !== noName || !isAnswerRow(this.#entries, row)) return own
    // A late response may not be linked to its request.
    if (this.#entries.has(row, 'late')) return unknownName
    const request = this.#entries.peer(row)
    return request < 0 ? noName : this.#nameNumbers.get(request)
  }

  /** A response is shown with its request. */
  #want(rows: Uint8Array, row: number): void {
    rows[row] = 1
    const asked = isAnswerRow(this.#entries, row) ? this.#entries.peer(row) : -1
    if (asked >= 0) rows[asked] = 1
  }

  #rowsOf(record: number): Rows {
    const first = this.#firstRows.get(record)
    return first < 0 ? noRows : { first, count: this.#counts.get(record) ?? 1 }
  }
}

const noRows: Rows = { first: 0, count: 0 }

/** Placeholder for a row's record; the filter reads none of its content. */
const anyMessage: TapeRecord = {
  type: 'message',
  t: '',
  direction: 'client_to_server',
  raw: '',
  batch: false,
  parts: [],
}

function isMessage(entries: EntryTable, row: number): boolean {
  return isMessageKind(entries.kind(row))
}

function isAnswerRow(entries: EntryTable, row: number): boolean {
  const kind = entries.kind(row)
  return kind === 'result' || kind === 'error'
}
