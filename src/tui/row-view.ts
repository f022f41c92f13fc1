import { matchFilter, type Filter } from '../filter/index.js'
import type { MessageLog } from './message-log.js'

/** The rows that a filter lets through, in order. */
export class RowView {
  readonly #log: MessageLog
  #filter: Filter | undefined
  #rows: number[] = []
  /** Rows looked at so far. */
  #seen = 0

  constructor(log: MessageLog) {
    this.#log = log
  }

  get length(): number {
    return this.#filter ? this.#rows.length : this.#log.length
  }

  get filter(): Filter | undefined {
    return this.#filter
  }

  setFilter(filter: Filter | undefined): void {
    this.#filter = filter
    this.#rows = []
    this.#seen = 0
    this.update([])
  }

  /** Looks at rows that are new, and again at those that changed. */
  update(changed: readonly number[]): void {
    const filter = this.#filter
    if (!filter) return
    for (const row of changed)
      if (row < this.#seen) this.#place(row, matchFilter(filter, this.#log.subject(row)))
    for (; this.#seen < this.#log.length; this.#seen += 1) {
      if (matchFilter(filter, this.#log.subject(this.#seen))) this.#rows.push(this.#seen)
    }
  }

  /** The row at a place of the view; undefined beyond its end. */
  at(index: number): number | undefined {
    if (!this.#filter) return index >= 0 && index < this.#log.length ? index : undefined
    return this.#rows[index]
  }

  /** The place of a row, or of the first one after it. */
  indexOf(row: number): number {
    if (!this.#filter) return Math.min(row, this.#log.length)
    let low = 0
    let high = this.#rows.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#rows[middle]! < row) low = middle + 1
      else high = middle
    }
    return low
  }

  #place(row: number, matches: boolean): void {
    const index = this.indexOf(row)
    const isThere = this.#rows[index] === row
    if (matches && !isThere) this.#rows.splice(index, 0, row)
    if (!matches && isThere) this.#rows.splice(index, 1)
  }
}
