import { Names, Texts, type ColumnValues } from './column-values.js'

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
      return pieces.some(({ kind }) => kind === 'texts') ? joinedTexts(pieces) : joinedNames(pieces)
  }
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
    if (piece.kind === 'same') at.fill(names.codeOf(piece.value), row, row + piece.count)
    if (piece.kind === 'names') {
      const codes = new Map<number, number>()
      for (let i = 0; i < piece.at.length; i += 1) {
        const own = piece.at[i]!
        if (own < 0) continue
        let code = codes.get(own)
        if (code === undefined) codes.set(own, (code = names.codeOf(piece.texts[own])))
        at[row + i] = code
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
    if (piece.kind === 'texts') piece.texts.copyTo(texts, row)
    if (piece.kind === 'same' && piece.value !== undefined)
      for (let i = 0; i < piece.count; i += 1) texts.set(row + i, piece.value)
    if (piece.kind === 'names')
      for (let i = 0; i < piece.at.length; i += 1) texts.set(row + i, piece.texts[piece.at[i]!])
    row += lengthOf(piece)
  }
  return texts.rows(0, row)
}

function lengthOf(values: ColumnValues): number {
  switch (values.kind) {
    case 'same':
      return values.count
    case 'texts':
      return values.texts.starts.length
    default:
      return values.at.length
  }
}
