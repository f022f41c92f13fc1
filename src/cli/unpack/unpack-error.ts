/** Packed data are damaged: what would come of them may be anything. */
export class UnpackError extends Error {
  override readonly name = 'UnpackError'
}

/** What is wrong with packed data that were unpacked all the same. `rest`: something else stands after them. */
export type PackedFault = 'cut' | 'rest'

/** Bytes that come in pieces, and where to tell what is wrong with them. */
export interface Packed {
  readonly slices: AsyncIterable<Uint8Array>
  readonly fault: (fault: PackedFault) => void
}
