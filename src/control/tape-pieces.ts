/** Read at a time. */
export const pieceBytes = 512 * 1024
/** Pieces that are kept for others who are about to read the same. */
const mostPieces = 4
/** Memory that is kept for pieces to come. */
const mostSpare = 8

/** A piece of a tape, which others read too: not to be changed, and to be released once, when nobody looks at it any more. */
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
 * What was read last. Its memory is used again and again: buffers of this size that die young all the same
 * outlive the engine's young generation, and a process that makes hundreds a second collects garbage half of the time.
 */
export interface TapePieces {
  find(segment: number, position: number): Slice | undefined
  memory(): Buffer
  /** @param sizeBytes of the memory that `memory` gave, 0 to give it back */
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
