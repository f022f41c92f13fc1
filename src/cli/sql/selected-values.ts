import { Texts, type ColumnValues, type Run } from './column-values.js'

/** Copies the values of some rows. @param rows ascending */
export function selectedValues(values: ColumnValues, rows: Int32Array): ColumnValues {
  switch (values.kind) {
    case 'doubles':
      return { kind: 'doubles', at: picked(values.at, rows, new Float64Array(rows.length)) }
    case 'ints':
      return { kind: 'ints', at: picked(values.at, rows, new Int32Array(rows.length)) }
    case 'booleans':
      return { kind: 'booleans', at: picked(values.at, rows, new Uint8Array(rows.length)) }
    case 'names':
      return { ...values, at: picked(values.at, rows, new Int32Array(rows.length)) }
    case 'texts': {
      const texts = new Texts()
      for (let i = 0; i < rows.length; i += 1) values.texts.copy(rows[i]!, texts, i)
      return texts.rows(0, rows.length)
    }
    case 'runs':
      return { kind: 'runs', runs: pickedRuns(values.runs, rows) }
  }
}

function picked<Values extends Float64Array | Int32Array | Uint8Array>(
  from: Values,
  rows: Int32Array,
  to: Values,
): Values {
  for (let i = 0; i < rows.length; i += 1) to[i] = from[rows[i]!]!
  return to
}

function pickedRuns(runs: readonly Run[], rows: Int32Array): Run[] {
  const found: Run[] = []
  let [next, end] = [0, 0]
  for (const { value, count } of runs) {
    end += count
    const first = next
    while (next < rows.length && rows[next]! < end) next += 1
    if (next > first) found.push({ value, count: next - first })
  }
  return found
}
