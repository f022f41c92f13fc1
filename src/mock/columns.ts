type Numbers = Int32Array | Float64Array

/** One number a row, in as little memory as that takes. */
export interface Column {
  readonly length: number
  readonly push: (value: number) => void
  /** The number of a row; `missing` where there is no such row. */
  readonly get: (row: number) => number
  readonly set: (row: number, value: number) => void
}

/** Whole numbers of 32 bits. */
export function createIntColumn(missing = -1): Column {
  return columnOf(new Int32Array(256), (length) => new Int32Array(length), missing)
}

/** Any numbers: offsets and times. */
export function createNumberColumn(missing = 0): Column {
  return columnOf(new Float64Array(256), (length) => new Float64Array(length), missing)
}

function columnOf<T extends Numbers>(first: T, make: (length: number) => T, missing: number): Column {
  let data: Numbers = first
  let length = 0
  return {
    get length() {
      return length
    },
    push(value) {
      if (length === data.length) {
        const grown = make(length + (length >> 1))
        grown.set(data)
        data = grown
      }
      data[length] = value
      length += 1
    },
    get: (row) => (row >= 0 && row < length ? data[row]! : missing),
    set(row, value) {
      if (row < 0 || row >= length) throw new RangeError(`row ${row} of ${length}`)
      data[row] = value
    },
  }
}
