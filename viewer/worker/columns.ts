/** A typed column that grows by half. */
export interface Column<A> {
  readonly length: number
  push(value: number): void
  get(row: number): number
  set(row: number, value: number): void
  /** The values so far; valid until the next push. */
  view(): A
}

type Numbers = Float64Array | Uint32Array | Int32Array | Uint16Array | Uint8Array

export function createColumn<A extends Numbers>(make: (length: number) => A): Column<A> {
  let values = make(1024)
  let length = 0
  return {
    get length() {
      return length
    },
    push(value) {
      if (length === values.length) {
        const grown = make(length + (length >> 1))
        grown.set(values)
        values = grown
      }
      values[length] = value
      length += 1
    },
    get: (row) => values[row]!,
    set(row, value) {
      values[row] = value
    },
    view: () => values.subarray(0, length) as A,
  }
}
