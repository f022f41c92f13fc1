import { matchFilter, type Filter } from '../filter/index.js'
import type { MessageLog } from './message-log.js'

/** Rows checked between two looks at the clock. */
const rowsAtOnce = 64

/** The rows checked so far, and those of them that match the filter, in order. */
interface Sieved {
  readonly filter: Filter
  readonly rows: number[]
  seen: number
}

/** The rows that match a filter, in order. */
export class RowView {
  readonly #log: MessageLog
  #now: Sieved | undefined
  /** Replaces `#now` when all rows have been checked. */
  #next: Sieved | undefined

  constructor(log: MessageLog) {
    this.#log = log
  }

  get length(): number {
    return this.#now ? this.#now.rows.length : this.#log.length
  }

  get filter(): Filter | undefined {
    return this.#now?.filter
  }

  /** Starts another filter. The rows of the previous one stay until `lookOn` has checked all rows. */
  setFilter(filter: Filter | undefined): void {
    this.#next = filter && { filter, rows: [], seen: 0 }
    if (!filter) this.#now = undefined
  }

  /**
   * Checks rows for a limited time. Returns false while there are more.
   *
   * @param mostMs keeps the process responsive
   */
  lookOn(mostMs: number): boolean {
    const next = this.#next
    if (!next) return true
    const until = performance.now() + mostMs
    while (next.seen < this.#log.length) {
      this.#lookAt(next, Math.min(next.seen + rowsAtOnce, this.#log.length))
      if (next.seen < this.#log.length && performance.now() > until) return false
    }
    this.#now = next
    this.#next = undefined
    return true
  }

  /** Checks new rows, and changed rows again. */
  update(changed: readonly number[]): void {
    for (const sieved of [this.#now, this.#next]) {
      if (!sieved) continue
      for (const row of changed) if (row < sieved.seen) this.#place(sieved, row)
    }
    if (this.#now) this.#lookAt(this.#now, this.#log.length)
  }

  /** The row at an index of the view; undefined beyond its end. */
  at(index: number): number | undefined {
    if (!this.#now) return index >= 0 && index < this.#log.length ? index : undefined
    return this.#now.rows[index]
  }

  /** The index of a row, or of the next row in the view. */
  indexOf(row: number): number {
    return this.#now ? placeIn(this.#now.rows, row) : Math.min(row, this.#log.length)
  }

  #lookAt(sieved: Sieved, end: number): void {
    for (; sieved.seen < end; sieved.seen += 1) {
      if (matchFilter(sieved.filter, this.#log.subject(sieved.seen))) sieved.rows.push(sieved.seen)
    }
  }

  #place({ filter, rows }: Sieved, row: number): void {
    const index = placeIn(rows, row)
    const isThere = rows[index] === row
    const matches = matchFilter(filter, this.#log.subject(row))
    if (matches && !isThere) rows.splice(index, 0, row)
    if (!matches && isThere) rows.splice(index, 1)
  }
}

function placeIn(rows: readonly number[], row: number): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (rows[middle]! < row) low = middle + 1
    else high = middle
  }
  return low
}
