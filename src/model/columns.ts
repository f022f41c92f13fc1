type Numbers = Int32Array | Float64Array

/** One number per row, in compact memory. */
export interface Column {
  readonly length: number
  readonly push: (value: number) => void
  /** The number of a row; `missing` when the row does not exist. */
  readonly get: (row: number) => number
  readonly set: (row: number, value: number) => void
  /** Ensures that the column is at least this long. */
  readonly extend: (length: number) => void
}

/** 32-bit integers. */
export function createIntColumn(missing = -1): Column {
  return columnOf((length) => new Int32Array(length), missing)
}

/** Any numbers: offsets and times. */
export function createNumberColumn(missing = 0): Column {
  return columnOf((length) => new Float64Array(length), missing)
}

/** As `set`; missing rows before it are filled with the column's `missing` value. */
export function setRow(column: Column, row: number, value: number): void {
  column.extend(row + 1)
  column.set(row, value)
}

/** Rows per piece, as a power of two. */
const bits = 10
const size = 1 << bits

/** Pieces are never copied as the column grows; a piece without values takes no memory. */
function columnOf(make: (length: number) => Numbers, missing: number): Column {
  const pieces: (Numbers | undefined)[] = []
  let length = 0

  function put(row: number, value: number): void {
    const at = row >> bits
    const piece = pieces[at]
    if (piece) piece[row & (size - 1)] = value
    else if (value !== missing) {
      const made = make(size).fill(missing)
      made[row & (size - 1)] = value
      pieces[at] = made
    }
  }

  return {
    get length() {
      return length
    },
    push(value) {
      if (length >> bits === pieces.length) pieces.push(undefined)
      put(length, value)
      length += 1
    },
    extend(wanted) {
      length = Math.max(length, wanted)
      while (pieces.length << bits < length) pieces.push(undefined)
    },
    get(row) {
      if (row < 0 || row >= length) return missing
      const piece = pieces[row >> bits]
      return piece === undefined ? missing : piece[row & (size - 1)]!
    },
    set(row, value) {
      if (row < 0 || row >= length) throw new RangeError(`row ${row} of ${length}`)
      put(row, value)
    },
  }
}

type TypedArray = { set(from: never): void }

/** Copies the columns of a table into `larger`, which has the same columns. */
export function grownColumns<C extends { readonly [name in keyof C]: TypedArray }>(columns: C, larger: C): C {
  for (const name of Object.keys(columns) as (keyof C)[]) larger[name].set(columns[name] as never)
  return larger
}
