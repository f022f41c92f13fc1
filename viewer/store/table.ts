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

export interface Table {
  readonly length: number
  /** Number of rows, and of those that are not messages; for one lane or all. */
  count(lane: number | 'all'): { readonly rows: number; readonly besides: number }
  add(rows: Rows, changes: Changes): void
  lane(row: number): number
  kind(row: number): RowKind
  has(row: number, flag: EntryFlag): boolean
  /** All flags as bits: they change when a held message is edited or forwarded. */
  flags(row: number): number
  is(row: number, flag: keyof typeof extraFlag): boolean
  /** Microseconds since 1970; 0 if the recording has no times. */
  at(row: number): number
  seq(row: number): number
  size(row: number): number
  /** Time for which a person or a rule held it, in microseconds. */
  heldUs(row: number): number
  /** Time for which the server waited for its client before this response, in microseconds. */
  waitedUs(row: number): number
  /** As `EntryTable.taskUs`. */
  taskUs(row: number): number
  /** The request of a response, or the response of a request; -1 for none. */
  peer(row: number): number
  /** The request that another message belongs to (progress, cancellation, round, held response); or -1. */
  linked(row: number): number
  /** The last held response to a request, whatever its outcome; -1 for none. */
  heldAnswer(row: number): number
  method(row: number): string
  subject(row: number): string
  note(row: number): string
  /** Exact text of the JSON-RPC id. */
  id(row: number): string
  /** Word numbers, for grouping. */
  methodWord(row: number): number
  subjectWord(row: number): number
  word(number: number): string
  /** Rows that are notes, in ascending order. */
  readonly notes: readonly number[]
  /** Number of a word; -1 if it does not occur. */
  wordNumber(text: string): number
  /** Rows in chronological order. */
  readonly order: Int32Array
}

type Numbers = Float64Array | Uint32Array | Int32Array | Uint16Array | Uint8Array

const answerKinds: ReadonlySet<number> = new Set([entryKinds.indexOf('result'), entryKinds.indexOf('error')])

export function createTable(): Table {
  let capacity = 1 << 14
  let length = 0
  let lane = new Uint8Array(capacity)
  let kind = new Uint8Array(capacity)
  let flags = new Uint16Array(capacity)
  let extra = new Uint8Array(capacity)
  let at = new Float64Array(capacity)
  let seq = new Int32Array(capacity)
  let size = new Uint32Array(capacity)
  let peer = new Int32Array(capacity)
  let linked = new Int32Array(capacity)
  let method = new Uint32Array(capacity)
  let subject = new Uint32Array(capacity)
  let note = new Uint32Array(capacity)
  let id = new Int32Array(capacity)
  let order = new Int32Array(capacity)
  const words: string[] = []
  const held = new Map<number, number>()
  const waited = new Map<number, number>()
  const tasks = new Map<number, number>()
  /** Held responses by request; there are few. */
  const heldAnswers = new Map<number, number>()
  const notes: number[] = []
  const rowsOf: number[] = []
  const besidesOf: number[] = []
  let newest = -Infinity
  let sorted = true

  function grow(needed: number): void {
    // Unwritten parts cost no memory.
    while (capacity < needed) capacity *= 2
    lane = extend(lane, new Uint8Array(capacity))
    kind = extend(kind, new Uint8Array(capacity))
    flags = extend(flags, new Uint16Array(capacity))
    extra = extend(extra, new Uint8Array(capacity))
    at = extend(at, new Float64Array(capacity))
    seq = extend(seq, new Int32Array(capacity))
    size = extend(size, new Uint32Array(capacity))
    peer = extend(peer, new Int32Array(capacity))
    linked = extend(linked, new Int32Array(capacity))
    method = extend(method, new Uint32Array(capacity))
    subject = extend(subject, new Uint32Array(capacity))
    note = extend(note, new Uint32Array(capacity))
    id = extend(id, new Int32Array(capacity))
    order = extend(order, new Int32Array(capacity))
  }

  function noteOrder(first: number, count: number): void {
    for (let row = first; row < first + count; row += 1) {
      order[row] = row
      // Numbers are chronological within a session, but the clocks of other lanes may differ.
      if (at[row]! < newest) sorted = false
      else newest = at[row]!
    }
  }

  function addNote(row: number): void {
    notes.push(row)
    if (linked[row]! >= 0) extra[linked[row]!]! |= extraFlag.noted
  }

  return {
    get length() {
      return length
    },
    add(rows, changes) {
      const { first, count } = rows
      if (first + count > capacity) grow(first + count)
      lane.fill(rows.lane, first, first + count)
      kind.set(rows.kind, first)
      flags.set(rows.flags, first)
      extra.set(rows.extra, first)
      at.set(rows.at, first)
      seq.set(rows.seq, first)
      size.set(rows.size, first)
      peer.set(rows.peer, first)
      linked.set(rows.linked, first)
      method.set(rows.method, first)
      subject.set(rows.subject, first)
      note.set(rows.note, first)
      id.set(rows.id, first)
      for (const word of rows.strings) words.push(word)
      length = Math.max(length, first + count)
      let besides = 0
      for (let row = first; row < first + count; row += 1) {
        if (!isMessageKind(entryKinds[kind[row]!]!)) besides += 1
        if ((extra[row]! & extraFlag.note) !== 0) addNote(row)
        else if (linked[row]! >= 0) {
          extra[linked[row]!]! |= extraFlag.joined
          if (answerKinds.has(kind[row]!)) heldAnswers.set(linked[row]!, row)
        }
      }
      rowsOf[rows.lane] = (rowsOf[rows.lane] ?? 0) + count
      besidesOf[rows.lane] = (besidesOf[rows.lane] ?? 0) + besides
      noteOrder(first, count)
      changes.rows.forEach((row, i) => {
        kind[row] = changes.kind[i]!
        flags[row] = changes.flags[i]!
        size[row] = changes.size[i]!
        peer[row] = changes.peer[i]!
        if (changes.heldUs[i]! > 0) held.set(row, changes.heldUs[i]!)
        if (changes.waitedUs[i]! > 0) waited.set(row, changes.waitedUs[i]!)
        if (changes.taskUs[i]! > 0 || tasks.has(row)) tasks.set(row, changes.taskUs[i]!)
      })
    },
    count: (only) => ({ rows: total(rowsOf, only), besides: total(besidesOf, only) }),
    lane: (row) => lane[row]!,
    kind: (row) => ((extra[row]! & extraFlag.note) === 0 ? entryKinds[kind[row]!]! : 'note'),
    notes,
    wordNumber: (text) => words.indexOf(text),
    has: (row, flag) => (flags[row]! & entryFlag[flag]) !== 0,
    flags: (row) => flags[row]!,
    is: (row, flag) => (extra[row]! & extraFlag[flag]) !== 0,
    at: (row) => at[row]!,
    seq: (row) => seq[row]!,
    size: (row) => size[row]!,
    peer: (row) => peer[row]!,
    linked: (row) => linked[row]!,
    heldAnswer: (row) => heldAnswers.get(row) ?? -1,
    method: (row) => words[method[row]!] ?? '',
    subject: (row) => words[subject[row]!] ?? '',
    heldUs: (row) => held.get(row) ?? 0,
    waitedUs: (row) => waited.get(row) ?? 0,
    taskUs: (row) => tasks.get(row) ?? 0,
    note: (row) => words[note[row]!] ?? '',
    id: (row) => idText(id[row]!, (number) => words[number] ?? ''),
    methodWord: (row) => method[row]!,
    subjectWord: (row) => subject[row]!,
    word: (number) => words[number] ?? '',
    get order() {
      const all = order.subarray(0, length)
      if (!sorted) {
        all.sort((a, b) => at[a]! - at[b]! || a - b)
        sorted = true
        newest = length === 0 ? -Infinity : at[all[length - 1]!]!
      }
      return all
    },
  }
}

function total(counts: readonly number[], only: number | 'all'): number {
  return only === 'all' ? counts.reduce((sum, count) => sum + (count ?? 0), 0) : (counts[only] ?? 0)
}

function extend<T extends Numbers>(from: T, to: T): T {
  to.set(from)
  return to
}
