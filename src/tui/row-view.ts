import { matchFilter, type Filter } from '../filter/index.js'
import type { MessageLog } from './message-log.js'

/** Rows between two looks at the clock. */
const rowsAtOnce = 64

/** Rows that were looked at, and those among them that a filter lets through, in order. */
interface Sieved {
  readonly filter: Filter
  readonly rows: number[]
  seen: number
}

/** The rows that a filter lets through, in order. */
export class RowView {
  readonly #log: MessageLog
  #now: Sieved | undefined
  /** Takes the place of what is shown when all rows were looked at. */
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

  /** Begins with another filter; the rows are those of the last one until `lookOn` says that all were looked at. */
  setFilter(filter: Filter | undefined): void {
    this.#next = filter && { filter, rows: [], seen: 0 }
    if (!filter) this.#now = undefined
  }

  /**
   * Looks at rows for some time. False while there are more.
   *
   * @param mostMs others of this process may have something to do
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

  /** Looks at rows that are new, and again at those that changed. */
  update(changed: readonly number[]): void {
    for (const sieved of [this.#now, this.#next]) {
      if (!sieved) continue
      for (const row of changed) if (row < sieved.seen) this.#place(sieved, row)
    }
    if (this.#now) this.#lookAt(this.#now, this.#log.length)
  }

  /** The row at a place of the view; undefined beyond its end. */
  at(index: number): number | undefined {
    if (!this.#now) return index >= 0 && index < this.#log.length ? index : undefined
    return this.#now.rows[index]
  }

  /** The place of a row, or of the first one after it. */
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
