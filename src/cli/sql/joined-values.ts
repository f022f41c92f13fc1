import { Names, Texts, type ColumnValues, type Run } from './column-values.js'

/** The values of consecutive groups of rows, at most `rowsInGroup`, as one group. */
export function joinedValues(pieces: readonly ColumnValues[]): ColumnValues {
  const [first] = pieces
  if (pieces.length === 1) return first!
  switch (first!.kind) {
    case 'doubles':
      return { kind: 'doubles', at: joinedNumbers(pieces, (length) => new Float64Array(length)) }
    case 'ints':
      return { kind: 'ints', at: joinedNumbers(pieces, (length) => new Int32Array(length)) }
    case 'booleans':
      return { kind: 'booleans', at: joinedNumbers(pieces, (length) => new Uint8Array(length)) }
    default:
      return pieces.some(({ kind }) => kind === 'texts') ? joinedTexts(pieces) : joinedRepeated(pieces)
  }
}

/** Texts that repeat. */
function joinedRepeated(pieces: readonly ColumnValues[]): ColumnValues {
  const runs = pieces.flatMap((piece) => (piece.kind === 'runs' ? [piece.runs] : []))
  return runs.length === pieces.length ? { kind: 'runs', runs: runs.flat() } : joinedNames(pieces)
}

function joinedNumbers<Values extends Float64Array | Int32Array | Uint8Array>(
  pieces: readonly ColumnValues[],
  make: (length: number) => Values,
): Values {
  const joined = make(pieces.reduce((sum, piece) => sum + lengthOf(piece), 0))
  let row = 0
  for (const piece of pieces) {
    if ('at' in piece) joined.set(piece.at, row)
    row += lengthOf(piece)
  }
  return joined
}

function joinedNames(pieces: readonly ColumnValues[]): ColumnValues {
  const names = new Names()
  const at = new Int32Array(pieces.reduce((sum, piece) => sum + lengthOf(piece), 0)).fill(-1)
  let row = 0
  for (const piece of pieces) {
    if (piece.kind === 'runs')
      eachRun(piece.runs, row, (value, from, to) => at.fill(names.codeOf(value), from, to))
    if (piece.kind === 'names') {
      const codes = new Int32Array(piece.texts.length).fill(-1)
      for (let i = 0; i < piece.at.length; i += 1) {
        const own = piece.at[i]!
        if (own < 0) continue
        if (codes[own]! < 0) codes[own] = names.codeOf(piece.texts[own])
        at[row + i] = codes[own]!
      }
    }
    row += lengthOf(piece)
  }
  return { kind: 'names', at, texts: names.texts }
}

function joinedTexts(pieces: readonly ColumnValues[]): ColumnValues {
  const texts = new Texts()
  let row = 0
  for (const piece of pieces) {
    if (piece.kind === 'texts') texts.append(row, piece.texts)
    if (piece.kind === 'runs')
      eachRun(piece.runs, row, (value, from, to) => {
        if (value !== undefined) for (let i = from; i < to; i += 1) texts.set(i, value)
      })
    if (piece.kind === 'names')
      for (let i = 0; i < piece.at.length; i += 1) {
        const text = piece.texts[piece.at[i]!]
        if (text !== undefined) texts.set(row + i, text)
      }
    row += lengthOf(piece)
  }
  return texts.rows(0, row)
}

/** @param take gets the rows of each run, from `first` on */
function eachRun(
  runs: readonly Run[],
  first: number,
  take: (value: string | undefined, from: number, to: number) => void,
): void {
  let row = first
  for (const { value, count } of runs) take(value, row, (row += count))
}

function lengthOf(values: ColumnValues): number {
  switch (values.kind) {
    case 'runs':
      return values.runs.reduce((sum, { count }) => sum + count, 0)
    case 'texts':
      return values.texts.starts.length
    default:
      return values.at.length
  }
}
