import {
  entryFlag,
  entryKinds,
  isMessageKind,
  type EntryFlag,
  type EntryKind,
} from '../../src/model/index.js'
import { extraFlag, idText, type Changes, type Rows } from '../worker/protocol.js'

export type RowKind = EntryKind | 'note'

/** Unwritten parts of columns cost no memory. */
function columnsOf(capacity: number) {
  return {
    lane: new Uint8Array(capacity),
    kind: new Uint8Array(capacity),
    flags: new Uint32Array(capacity),
    extra: new Uint8Array(capacity),
    at: new Float64Array(capacity),
    seq: new Int32Array(capacity),
    size: new Uint32Array(capacity),
    peer: new Int32Array(capacity),
    linked: new Int32Array(capacity),
    method: new Uint32Array(capacity),
    subject: new Uint32Array(capacity),
    note: new Uint32Array(capacity),
    id: new Int32Array(capacity),
    order: new Int32Array(capacity),
  }
}

const columnNames = Object.keys(columnsOf(0)) as (keyof ReturnType<typeof columnsOf>)[]
/** Columns that the worker sends. */
const sentColumns = columnNames.filter((name) => name !== 'lane' && name !== 'order')

/** Columns that change after their rows were sent. */
const changedColumns = ['kind', 'flags', 'size', 'peer', 'method', 'subject', 'note', 'id'] as const

const answerKinds: ReadonlySet<number> = new Set([entryKinds.indexOf('result'), entryKinds.indexOf('error')])

/** The rows of all lanes in typed columns: about 50 bytes per row, so that any row can be drawn at once. */
export class Table {
  #capacity = 1 << 14
  #length = 0
  #columns = columnsOf(this.#capacity)
  readonly #words: string[] = []
  readonly #held = new Map<number, number>()
  readonly #waited = new Map<number, number>()
  readonly #tasks = new Map<number, number>()
  /** Held responses by request; there are few. */
  readonly #heldAnswers = new Map<number, number>()
  /** Rows that are notes, in ascending order. */
  readonly notes: number[] = []
  readonly #rowsOf: number[] = []
  readonly #besidesOf: number[] = []
  #newest = -Infinity
  #sorted = true
  /** Number of rows, and of those that are not messages; for one lane or all. */
  readonly count = (only: number | 'all'): { readonly rows: number; readonly besides: number } => ({
    rows: total(this.#rowsOf, only),
    besides: total(this.#besidesOf, only),
  })
  readonly lane = (row: number): number => this.#columns.lane[row]!
  readonly kind = (row: number): RowKind =>
    (this.#columns.extra[row]! & extraFlag.note) === 0 ? entryKinds[this.#columns.kind[row]!]! : 'note'
  /** Number of a word; -1 if it does not occur. */
  readonly wordNumber = (text: string): number => this.#words.indexOf(text)
  readonly has = (row: number, flag: EntryFlag): boolean =>
    (this.#columns.flags[row]! & entryFlag[flag]) !== 0
  /** All flags as bits: they change when a held message is edited or forwarded. */
  readonly flags = (row: number): number => this.#columns.flags[row]!
  readonly is = (row: number, flag: keyof typeof extraFlag): boolean =>
    (this.#columns.extra[row]! & extraFlag[flag]) !== 0
  /** Microseconds since 1970; 0 if the recording has no times. */
  readonly at = (row: number): number => this.#columns.at[row]!
  readonly seq = (row: number): number => this.#columns.seq[row]!
  readonly size = (row: number): number => this.#columns.size[row]!
  /** The request of a response, or the response of a request; -1 for none. */
  readonly peer = (row: number): number => this.#columns.peer[row]!
  /** The request that another message belongs to (progress, cancellation, round, held response); or -1. */
  readonly linked = (row: number): number => this.#columns.linked[row]!
  /** The last held response to a request, whatever its outcome; -1 for none. */
  readonly heldAnswer = (row: number): number => this.#heldAnswers.get(row) ?? -1
  readonly method = (row: number): string => this.#words[this.#columns.method[row]!] ?? ''
  readonly subject = (row: number): string => this.#words[this.#columns.subject[row]!] ?? ''
  /** Time for which a person or a rule held it, in microseconds. */
  readonly heldUs = (row: number): number => this.#held.get(row) ?? 0
  /** Time for which the server waited for its client before this response, in microseconds. */
  readonly waitedUs = (row: number): number => this.#waited.get(row) ?? 0
  /** As `EntryTable.taskUs`. */
  readonly taskUs = (row: number): number => this.#tasks.get(row) ?? 0
  readonly note = (row: number): string => this.#words[this.#columns.note[row]!] ?? ''
  /** Exact text of the JSON-RPC id. */
  readonly id = (row: number): string => idText(this.#columns.id[row]!, (number) => this.#words[number] ?? '')
  /** Word numbers, for grouping. */
  readonly methodWord = (row: number): number => this.#columns.method[row]!
  readonly subjectWord = (row: number): number => this.#columns.subject[row]!
  readonly word = (number: number): string => this.#words[number] ?? ''

  get length(): number {
    return this.#length
  }

  add(rows: Rows, changes: Changes): void {
    const { first, count } = rows
    if (first + count > this.#capacity) this.#grow(first + count)
    const columns = this.#columns
    columns.lane.fill(rows.lane, first, first + count)
    for (const name of sentColumns) columns[name].set(rows[name], first)
    for (const word of rows.strings) this.#words.push(word)
    this.#length = Math.max(this.#length, first + count)
    let besides = 0
    for (let row = first; row < first + count; row += 1) {
      if (!isMessageKind(entryKinds[columns.kind[row]!]!)) besides += 1
      if ((columns.extra[row]! & extraFlag.note) !== 0) this.#addNote(row)
      else if (columns.linked[row]! >= 0) {
        columns.extra[columns.linked[row]!]! |= extraFlag.joined
        if (answerKinds.has(columns.kind[row]!)) this.#heldAnswers.set(columns.linked[row]!, row)
      }
    }
    this.#rowsOf[rows.lane] = (this.#rowsOf[rows.lane] ?? 0) + count
    this.#besidesOf[rows.lane] = (this.#besidesOf[rows.lane] ?? 0) + besides
    this.#noteOrder(first, count)
    changes.rows.forEach((row, i) => {
      for (const name of changedColumns) columns[name][row] = changes[name][i]!
      if (changes.heldUs[i]! > 0) this.#held.set(row, changes.heldUs[i]!)
      if (changes.waitedUs[i]! > 0) this.#waited.set(row, changes.waitedUs[i]!)
      if (changes.taskUs[i]! > 0 || this.#tasks.has(row)) this.#tasks.set(row, changes.taskUs[i]!)
    })
  }

  /** Rows in chronological order. */
  get order(): Int32Array {
    const { order, at } = this.#columns
    const all = order.subarray(0, this.#length)
    if (!this.#sorted) {
      all.sort((a, b) => at[a]! - at[b]! || a - b)
      this.#sorted = true
      this.#newest = this.#length === 0 ? -Infinity : at[all[this.#length - 1]!]!
    }
    return all
  }

  #grow(needed: number): void {
    while (this.#capacity < needed) this.#capacity *= 2
    const grown = columnsOf(this.#capacity)
    for (const name of columnNames) grown[name].set(this.#columns[name])
    this.#columns = grown
  }

  #noteOrder(first: number, count: number): void {
    const { order, at } = this.#columns
    for (let row = first; row < first + count; row += 1) {
      order[row] = row
      // Numbers are chronological within a session, but the clocks of other lanes may differ.
      if (at[row]! < this.#newest) this.#sorted = false
      else this.#newest = at[row]!
    }
  }

  #addNote(row: number): void {
    const { extra, linked } = this.#columns
    this.notes.push(row)
    if (linked[row]! >= 0) extra[linked[row]!]! |= extraFlag.noted
  }
}

function total(counts: readonly number[], only: number | 'all'): number {
  return only === 'all' ? counts.reduce((sum, count) => sum + (count ?? 0), 0) : (counts[only] ?? 0)
}
