/** The packed data is damaged, so its output would be unreliable. */
export class UnpackError extends Error {
  override readonly name = 'UnpackError'
}

/** Fault of packed data that was unpacked anyway. `rest`: other bytes follow it. */
export type PackedFault = 'cut' | 'rest'

/** Bytes in pieces, and a callback for their faults. */
export interface Packed {
  readonly slices: AsyncIterable<Uint8Array>
  readonly fault: (fault: PackedFault) => void
}
