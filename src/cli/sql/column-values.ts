import { detach, WiretapeError } from '../../model/index.js'
import type { Cell } from './parquet-table.js'

/** Rows that engines process at once; a Parquet file has one group for each. */
export const rowsInGroup = 122_880

/** A missing integer. */
export const noInt = -0x8000_0000
/** A missing boolean; others are 0 and 1. */
export const noBoolean = 2
/** Position of a missing name. */
export const noName = -1
/** Position of a missing text. */
export const noText = 0xffff_ffff
/** Texts of a column and group, in bytes: positions have 32 bits. */
const mostTextBytes = 0xf000_0000

/** Values of one column of a group of rows. */
export type ColumnValues =
  /** NaN is missing. */
  | { readonly kind: 'doubles'; readonly at: Float64Array }
  | { readonly kind: 'ints'; readonly at: Int32Array }
  | { readonly kind: 'booleans'; readonly at: Uint8Array }
  /** Positions in `texts`. */
  | { readonly kind: 'names'; readonly at: Int32Array; readonly texts: readonly string[] }
  | { readonly kind: 'texts'; readonly texts: TextRows }
  /** Values that stay the same in many consecutive rows. */
  | { readonly kind: 'runs'; readonly runs: readonly Run[] }

export interface Run {
  readonly value: string | undefined
  /** Rows. */
  readonly count: number
}

/** The same value in every row. */
export function sameValue(value: string | undefined, count: number): ColumnValues {
  return { kind: 'runs', runs: [{ value, count }] }
}

/** Some rows of a column of texts. */
export interface TextRows {
  /** Length and UTF-8 of each present text, as in Parquet. */
  readonly bytes: Uint8Array
  /** `bytes` has the texts in the order of their rows, and no others. */
  readonly isInOrder: boolean
  /** Bytes of the present texts with their lengths. */
  size(): number
  /** Position of each row's text. */
  readonly starts: Uint32Array
  isMissing(row: number): boolean
  at(row: number): string | undefined
  /** Writes the text of a row to another column. */
  copy(row: number, to: Texts, toRow: number): void
}

/** One value, as a program reads it. */
export function cellOf(values: ColumnValues, i: number): Cell {
  switch (values.kind) {
    case 'doubles':
      return Number.isNaN(values.at[i]!) ? undefined : values.at[i]
    case 'ints':
      return values.at[i] === noInt ? undefined : values.at[i]
    case 'booleans':
      return values.at[i] === noBoolean ? undefined : values.at[i] === 1
    case 'names':
      return values.texts[values.at[i]!]
    case 'texts':
      return values.texts.at(i)
    case 'runs': {
      let end = 0
      return values.runs.find(({ count }) => i < (end += count))?.value
    }
  }
}

/** A number per row; `absent` if missing. In pieces of one group each, so that millions of rows are never copied. */
class Column<Values extends Float64Array | Int32Array> {
  readonly #make: (length: number) => Values
  readonly #absent: number
  readonly #groups: (Values | undefined)[] = []
  /** Memory of a released group. */
  #spare: Values | undefined
  /** Group of the last row, and its first row. */
  #current: Values
  #start = 0

  constructor(make: (length: number) => Values, absent: number) {
    this.#make = make
    this.#absent = absent
    this.#current = make(0)
  }

  set(row: number, value: number): void {
    const at = row - this.#start
    if (at >= 0 && at < this.#current.length) this.#current[at] = value
    else this.#groupOf(row)[row % rowsInGroup] = value
  }

  at(row: number): number {
    const at = row - this.#start
    if (at >= 0 && at < this.#current.length) return this.#current[at]!
    const number = Math.floor(row / rowsInGroup)
    const group = this.#groups[number]
    if (!group) return this.#absent
    this.#start = number * rowsInGroup
    this.#current = group
    return group[row % rowsInGroup] ?? this.#absent
  }

  /** @param to in the same group as `from` */
  rows(from: number, to: number): Values {
    const first = from % rowsInGroup
    return this.#groupOf(to - 1).subarray(first, first + to - from) as Values
  }

  /** All rows from this one on are missing again. */
  cut(from: number): void {
    const number = Math.floor(from / rowsInGroup)
    this.#groups.length = Math.min(this.#groups.length, number + 1)
    this.#groups[number]?.fill(this.#absent, from % rowsInGroup)
    this.#leave()
  }

  /** The rows of a group are no longer used: its memory serves later ones. */
  release(number: number): void {
    const group = this.#groups[number]
    this.#groups[number] = undefined
    if (group?.length === rowsInGroup) this.#spare = group.fill(this.#absent) as Values
    this.#leave()
  }

  #leave(): void {
    this.#current = this.#make(0)
    this.#start = 0
  }

  /** The group of a row, long enough for it. */
  #groupOf(row: number): Values {
    const number = Math.floor(row / rowsInGroup)
    let group = this.#groups[number]
    if (!group && this.#spare) {
      group = this.#groups[number] = this.#spare
      this.#spare = undefined
    }
    const length = group?.length ?? 0
    const needed = (row % rowsInGroup) + 1
    if (!group || needed > length) {
      // Later groups are mostly full.
      const least = number > 0 ? rowsInGroup : 64
      const longer = this.#make(Math.min(rowsInGroup, Math.max(needed, length * 2, least)))
      longer.fill(this.#absent, length)
      if (group) longer.set(group)
      this.#groups[number] = group = longer
    }
    this.#start = number * rowsInGroup
    this.#current = group
    return group
  }
}

/** A number per row; NaN if missing. */
export class Numbers extends Column<Float64Array> {
  constructor() {
    super((length) => new Float64Array(length), Number.NaN)
  }
}

/** An integer per row; `absent` if missing. */
export class Ints extends Column<Int32Array> {
  constructor(absent: number) {
    super((length) => new Int32Array(length), absent)
  }
}

/** A text per row of those that repeat, such as names of methods. */
export class Names {
  readonly texts: string[] = []
  readonly #codes = new Map<string, number>()
  readonly #rows = new Ints(-1)

  set(row: number, text: string | undefined): void {
    this.#rows.set(row, this.codeOf(text))
  }

  /** Position of a text in `texts`, where it is added if needed. -1 for '' and undefined, which are missing. */
  codeOf(text: string | undefined): number {
    if (text === undefined || text === '') return -1
    let code = this.#codes.get(text)
    if (code === undefined) {
      const own = detach(text)
      code = this.texts.push(own) - 1
      this.#codes.set(own, code)
    }
    return code
  }

  /** Position of a row's text in `texts`; -1 if missing. */
  code(row: number): number {
    return this.#rows.at(row)
  }

  rows(from: number, to: number): ColumnValues {
    return { kind: 'names', at: this.#rows.rows(from, to), texts: this.texts }
  }

  cut(from: number): void {
    this.#rows.cut(from)
  }

  release(number: number): void {
    this.#rows.release(number)
  }
}

/** A text per row of those that rarely repeat, as bytes. */
export class Texts {
  readonly #chunks: (TextChunk | undefined)[] = []
  #spare: TextChunk | undefined

  set(row: number, text: string | undefined): void {
    if (text === undefined) return this.#chunk(row).clear(row % rowsInGroup)
    this.#chunk(row).write(row % rowsInGroup, text)
  }

  /** UTF-8. */
  setBytes(row: number, bytes: Uint8Array, start: number, end: number): void {
    this.#chunk(row).copy(row % rowsInGroup, bytes, start, end)
  }

  /** Adds rows behind all others, within one group. @param first row here */
  append(first: number, rows: TextRows): void {
    this.#chunk(first).append(first % rowsInGroup, rows)
  }

  /** @param to in the same group of rows as `from` */
  rows(from: number, to: number): ColumnValues {
    const first = from % rowsInGroup
    return { kind: 'texts', texts: this.#chunk(from).rows(first, first + to - from) }
  }

  cut(from: number): void {
    const number = Math.floor(from / rowsInGroup)
    this.#chunks.length = Math.min(this.#chunks.length, number + 1)
    this.#chunks[number]?.cut(from % rowsInGroup)
  }

  /** Texts that were read from the group stay valid. */
  release(number: number): void {
    this.#spare = this.#chunks[number]
    this.#spare?.reset()
    this.#chunks[number] = undefined
  }

  #chunk(row: number): TextChunk {
    const number = Math.floor(row / rowsInGroup)
    let chunk = this.#chunks[number]
    if (!chunk) {
      chunk = this.#chunks[number] = this.#spare ?? new TextChunk()
      this.#spare = undefined
    }
    return chunk
  }
}

/** Texts of the rows of one group. */
class TextChunk {
  #bytes = Buffer.alloc(0)
  #length = 0
  #starts = new Uint32Array(0)
  #last = -1
  #isInOrder = true

  clear(row: number): void {
    if (row >= this.#starts.length || this.#starts[row] === noText) return
    this.#starts[row] = noText
    this.#isInOrder = false
  }

  cut(row: number): void {
    if (this.#last < row) return
    this.#starts.fill(noText, row)
    this.#last = row - 1
    // Their bytes stay.
    this.#isInOrder = false
  }

  reset(): void {
    // Pages refer to the old bytes.
    this.#bytes = Buffer.allocUnsafeSlow(this.#length)
    this.#length = 0
    this.#starts.fill(noText)
    this.#last = -1
    this.#isInOrder = true
  }

  write(row: number, text: string): void {
    // A UTF-16 unit has at most three bytes.
    const at = this.#begin(row, text.length * 3)
    const bytes = this.#bytes.write(text, at + 4, 'utf8')
    this.#bytes.writeUInt32LE(bytes, at)
    this.#length = at + 4 + bytes
  }

  copy(row: number, bytes: Uint8Array, start: number, end: number): void {
    const at = this.#begin(row, end - start)
    const own = this.#bytes
    const length = end - start
    own[at] = length & 0xff
    own[at + 1] = (length >>> 8) & 0xff
    own[at + 2] = (length >>> 16) & 0xff
    own[at + 3] = length >>> 24
    if (length < 64) for (let i = 0; i < length; i += 1) own[at + 4 + i] = bytes[start + i]!
    else own.set(bytes.subarray(start, end), at + 4)
    this.#length = at + 4 + length
  }

  append(row: number, { isInOrder, bytes, starts }: TextRows): void {
    if (bytes.length === 0) return
    const last = row + starts.length - 1
    if (last >= this.#starts.length) this.#grow(last + 1)
    // Of texts in order, `bytes` begins with the first one.
    const first = isInOrder ? starts.find((start) => start !== noText)! : 0
    const at = this.#begin(row, bytes.length)
    this.#starts[row] = noText
    this.#bytes.set(bytes, at)
    this.#length = at + bytes.length
    for (let i = 0; i < starts.length; i += 1)
      if (starts[i] !== noText) this.#starts[row + i] = starts[i]! - first + at
    this.#last = last
    if (!isInOrder) this.#isInOrder = false
  }

  rows(from: number, to: number): TextRows {
    if (this.#starts.length < to) this.#grow(to)
    const starts = this.#starts.subarray(from, to)
    const all = this.#bytes
    const end = (i: number): number => starts[i]! + 4 + all.readUInt32LE(starts[i])
    const isMissing = (i: number): boolean => starts[i] === noText
    let [first, last] = [0, starts.length - 1]
    while (first < starts.length && isMissing(first)) first += 1
    while (last > first && isMissing(last)) last -= 1
    const isEmpty = first > last
    const isInOrder = this.#isInOrder
    const bytes =
      isInOrder && !isEmpty
        ? all.subarray(starts[first], end(last))
        : all.subarray(0, isEmpty ? 0 : this.#length)
    const size = (): number => {
      if (isInOrder || isEmpty) return bytes.length
      let sum = 0
      for (let i = first; i <= last; i += 1) if (!isMissing(i)) sum += end(i) - starts[i]!
      return sum
    }
    return {
      bytes,
      isInOrder,
      size,
      starts,
      isMissing,
      at: (i) => (isMissing(i) ? undefined : all.toString('utf8', starts[i]! + 4, end(i))),
      copy: (i, to, row) => {
        if (!isMissing(i)) to.setBytes(row, all, starts[i]! + 4, end(i))
      },
    }
  }

  #begin(row: number, length: number): number {
    if (row >= this.#starts.length) this.#grow(row + 1)
    if (row <= this.#last) this.#isInOrder = false
    else this.#last = row
    const at = this.#length
    const needed = at + 4 + length
    if (needed > mostTextBytes)
      throw new WiretapeError(
        'unreadable',
        `cannot index a recording with more than 3.75 GiB of text in ${rowsInGroup} rows`,
      )
    if (needed > this.#bytes.length) {
      const longer = Buffer.allocUnsafe(
        Math.max(needed, Math.min(this.#bytes.length * 2, mostTextBytes), 1_024),
      )
      this.#bytes.copy(longer, 0, 0, at)
      this.#bytes = longer
    }
    this.#starts[row] = at
    return at
  }

  #grow(rows: number): void {
    const longer = new Uint32Array(Math.min(rowsInGroup, Math.max(rows, this.#starts.length * 2, 256)))
    longer.fill(noText, this.#starts.length)
    longer.set(this.#starts)
    this.#starts = longer
  }
}
