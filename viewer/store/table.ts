import {
  entryFlag,
  entryKinds,
  isMessageKind,
  type EntryFlag,
  type EntryKind,
} from '../../src/model/index.js'
import { extraFlag, idText, type Changes, type Rows } from '../worker/protocol.js'

/** The rows of all lanes in typed columns: about 50 bytes per row, so that any row can be drawn at once. */
export type RowKind = EntryKind | 'note'

type Numbers = Float64Array | Uint32Array | Int32Array | Uint16Array | Uint8Array

const answerKinds: ReadonlySet<number> = new Set([entryKinds.indexOf('result'), entryKinds.indexOf('error')])

export class Table {
  #capacity = 1 << 14
  #length = 0
  #lane = new Uint8Array(this.#capacity)
  #kind = new Uint8Array(this.#capacity)
  #flags = new Uint32Array(this.#capacity)
  #extra = new Uint8Array(this.#capacity)
  #at = new Float64Array(this.#capacity)
  #seq = new Int32Array(this.#capacity)
  #size = new Uint32Array(this.#capacity)
  #peer = new Int32Array(this.#capacity)
  #linked = new Int32Array(this.#capacity)
  #method = new Uint32Array(this.#capacity)
  #subject = new Uint32Array(this.#capacity)
  #note = new Uint32Array(this.#capacity)
  #id = new Int32Array(this.#capacity)
  #order = new Int32Array(this.#capacity)
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
  readonly lane = (row: number): number => this.#lane[row]!
  readonly kind = (row: number): RowKind =>
    (this.#extra[row]! & extraFlag.note) === 0 ? entryKinds[this.#kind[row]!]! : 'note'
  /** Number of a word; -1 if it does not occur. */
  readonly wordNumber = (text: string): number => this.#words.indexOf(text)
  readonly has = (row: number, flag: EntryFlag): boolean => (this.#flags[row]! & entryFlag[flag]) !== 0
  /** All flags as bits: they change when a held message is edited or forwarded. */
  readonly flags = (row: number): number => this.#flags[row]!
  readonly is = (row: number, flag: keyof typeof extraFlag): boolean =>
    (this.#extra[row]! & extraFlag[flag]) !== 0
  /** Microseconds since 1970; 0 if the recording has no times. */
  readonly at = (row: number): number => this.#at[row]!
  readonly seq = (row: number): number => this.#seq[row]!
  readonly size = (row: number): number => this.#size[row]!
  /** The request of a response, or the response of a request; -1 for none. */
  readonly peer = (row: number): number => this.#peer[row]!
  /** The request that another message belongs to (progress, cancellation, round, held response); or -1. */
  readonly linked = (row: number): number => this.#linked[row]!
  /** The last held response to a request, whatever its outcome; -1 for none. */
  readonly heldAnswer = (row: number): number => this.#heldAnswers.get(row) ?? -1
  readonly method = (row: number): string => this.#words[this.#method[row]!] ?? ''
  readonly subject = (row: number): string => this.#words[this.#subject[row]!] ?? ''
  /** Time for which a person or a rule held it, in microseconds. */
  readonly heldUs = (row: number): number => this.#held.get(row) ?? 0
  /** Time for which the server waited for its client before this response, in microseconds. */
  readonly waitedUs = (row: number): number => this.#waited.get(row) ?? 0
  /** As `EntryTable.taskUs`. */
  readonly taskUs = (row: number): number => this.#tasks.get(row) ?? 0
  readonly note = (row: number): string => this.#words[this.#note[row]!] ?? ''
  /** Exact text of the JSON-RPC id. */
  readonly id = (row: number): string => idText(this.#id[row]!, (number) => this.#words[number] ?? '')
  /** Word numbers, for grouping. */
  readonly methodWord = (row: number): number => this.#method[row]!
  readonly subjectWord = (row: number): number => this.#subject[row]!
  readonly word = (number: number): string => this.#words[number] ?? ''

  get length(): number {
    return this.#length
  }

  add(rows: Rows, changes: Changes): void {
    const { first, count } = rows
    if (first + count > this.#capacity) this.#grow(first + count)
    this.#lane.fill(rows.lane, first, first + count)
    this.#kind.set(rows.kind, first)
    this.#flags.set(rows.flags, first)
    this.#extra.set(rows.extra, first)
    this.#at.set(rows.at, first)
    this.#seq.set(rows.seq, first)
    this.#size.set(rows.size, first)
    this.#peer.set(rows.peer, first)
    this.#linked.set(rows.linked, first)
    this.#method.set(rows.method, first)
    this.#subject.set(rows.subject, first)
    this.#note.set(rows.note, first)
    this.#id.set(rows.id, first)
    for (const word of rows.strings) this.#words.push(word)
    this.#length = Math.max(this.#length, first + count)
    let besides = 0
    for (let row = first; row < first + count; row += 1) {
      if (!isMessageKind(entryKinds[this.#kind[row]!]!)) besides += 1
      if ((this.#extra[row]! & extraFlag.note) !== 0) this.#addNote(row)
      else if (this.#linked[row]! >= 0) {
        this.#extra[this.#linked[row]!]! |= extraFlag.joined
        if (answerKinds.has(this.#kind[row]!)) this.#heldAnswers.set(this.#linked[row]!, row)
      }
    }
    this.#rowsOf[rows.lane] = (this.#rowsOf[rows.lane] ?? 0) + count
    this.#besidesOf[rows.lane] = (this.#besidesOf[rows.lane] ?? 0) + besides
    this.#noteOrder(first, count)
    changes.rows.forEach((row, i) => {
      this.#kind[row] = changes.kind[i]!
      this.#flags[row] = changes.flags[i]!
      this.#size[row] = changes.size[i]!
      this.#peer[row] = changes.peer[i]!
      if (changes.heldUs[i]! > 0) this.#held.set(row, changes.heldUs[i]!)
      if (changes.waitedUs[i]! > 0) this.#waited.set(row, changes.waitedUs[i]!)
      if (changes.taskUs[i]! > 0 || this.#tasks.has(row)) this.#tasks.set(row, changes.taskUs[i]!)
    })
  }

  /** Rows in chronological order. */
  get order(): Int32Array {
    const at = this.#at
    const all = this.#order.subarray(0, this.#length)
    if (!this.#sorted) {
      all.sort((a, b) => at[a]! - at[b]! || a - b)
      this.#sorted = true
      this.#newest = this.#length === 0 ? -Infinity : at[all[this.#length - 1]!]!
    }
    return all
  }

  #grow(needed: number): void {
    // Unwritten parts cost no memory.
    while (this.#capacity < needed) this.#capacity *= 2
    this.#lane = extend(this.#lane, new Uint8Array(this.#capacity))
    this.#kind = extend(this.#kind, new Uint8Array(this.#capacity))
    this.#flags = extend(this.#flags, new Uint32Array(this.#capacity))
    this.#extra = extend(this.#extra, new Uint8Array(this.#capacity))
    this.#at = extend(this.#at, new Float64Array(this.#capacity))
    this.#seq = extend(this.#seq, new Int32Array(this.#capacity))
    this.#size = extend(this.#size, new Uint32Array(this.#capacity))
    this.#peer = extend(this.#peer, new Int32Array(this.#capacity))
    this.#linked = extend(this.#linked, new Int32Array(this.#capacity))
    this.#method = extend(this.#method, new Uint32Array(this.#capacity))
    this.#subject = extend(this.#subject, new Uint32Array(this.#capacity))
    this.#note = extend(this.#note, new Uint32Array(this.#capacity))
    this.#id = extend(this.#id, new Int32Array(this.#capacity))
    this.#order = extend(this.#order, new Int32Array(this.#capacity))
  }

  #noteOrder(first: number, count: number): void {
    for (let row = first; row < first + count; row += 1) {
      this.#order[row] = row
      // Numbers are chronological within a session, but the clocks of other lanes may differ.
      if (this.#at[row]! < this.#newest) this.#sorted = false
      else this.#newest = this.#at[row]!
    }
  }

  #addNote(row: number): void {
    this.notes.push(row)
    if (this.#linked[row]! >= 0) this.#extra[this.#linked[row]!]! |= extraFlag.noted
  }
}

function total(counts: readonly number[], only: number | 'all'): number {
  return only === 'all' ? counts.reduce((sum, count) => sum + (count ?? 0), 0) : (counts[only] ?? 0)
}

function extend<T extends Numbers>(from: T, to: T): T {
  to.set(from)
  return to
}
