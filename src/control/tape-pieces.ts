/** Size of one read. */
export const pieceBytes = 512 * 1024
/** Pieces cached for other readers about to read them. */
const mostPieces = 4
/** Spare buffers kept for later pieces. */
const mostSpare = 8

/** A piece of a tape, shared between readers. Read-only; release it once, after the last use. */
export interface Slice {
  readonly bytes: Buffer
  release(): void
}

interface Piece {
  readonly segment: number
  readonly start: number
  readonly memory: Buffer
  readonly sizeBytes: number
  users: number
  kept: boolean
}

/**
 * The most recently read pieces. Their memory is reused: buffers of this size outlive the engine's young generation
 * even when short-lived, and a process that allocates hundreds a second spends half of its time in garbage collection.
 */
export interface TapePieces {
  find(segment: number, position: number): Slice | undefined
  memory(): Buffer
  /** @param sizeBytes used bytes of the buffer from `memory`, 0 to return it unused */
  add(segment: number, start: number, memory: Buffer, sizeBytes: number): void
}

export function createTapePieces(): TapePieces {
  const pieces: Piece[] = []
  const spare: Buffer[] = []

  function recycle(memory: Buffer): void {
    if (spare.length < mostSpare) spare.push(memory)
  }

  function sliceOf(piece: Piece, position: number): Slice {
    let released = false
    piece.users += 1
    return {
      bytes: piece.memory.subarray(position - piece.start, piece.sizeBytes),
      release() {
        if (released) return
        released = true
        piece.users -= 1
        if (piece.users === 0 && !piece.kept) recycle(piece.memory)
      },
    }
  }

  return {
    find(segment, position) {
      const piece = pieces.findLast(
        (one) => one.segment === segment && one.start <= position && position < one.start + one.sizeBytes,
      )
      return piece && sliceOf(piece, position)
    },
    memory: () => spare.pop() ?? Buffer.allocUnsafeSlow(pieceBytes),
    add(segment, start, memory, sizeBytes) {
      if (sizeBytes === 0) return recycle(memory)
      pieces.push({ segment, start, memory, sizeBytes, users: 0, kept: true })
      if (pieces.length <= mostPieces) return
      const old = pieces.shift()!
      old.kept = false
      if (old.users === 0) recycle(old.memory)
    },
  }
}
