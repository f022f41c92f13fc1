/** Bytes of a frame; `last` if the frame ends with them. */
export interface ZstdPiece {
  readonly bytes: Uint8Array
  readonly last: boolean
}

export interface ZstdFrames {
  /** Omits bytes outside of frames. */
  push(chunk: Uint8Array): ZstdPiece[]
  /** The position of the file's end: after a frame, inside one, or after other bytes. */
  end(): 'whole' | 'cut' | 'rest'
}

type Step =
  | 'magic'
  | 'skipSize'
  | 'descriptor'
  | 'header'
  | 'block'
  | 'content'
  | 'checksum'
  | 'skip'
  | 'rest'

/** Bytes that a step needs for its decision. */
const wanted: Readonly<Partial<Record<Step, number>>> = { magic: 4, skipSize: 4, descriptor: 1, block: 3 }

/**
 * Splits zstd data (RFC 8878) into frames without unpacking. Node's own stream ends after the first frame of a
 * chunk, unpacks nothing after a skippable frame, and does not report a truncated frame.
 */
export function createZstdFrames(): ZstdFrames {
  let step: Step = 'magic'
  /** Remaining bytes of the current step that need no check. */
  let left = 0
  let field: number[] = []
  let hasChecksum = false
  let lastBlock = false

  function afterBlock(): void {
    if (!lastBlock) step = 'block'
    else if (hasChecksum) {
      step = 'checksum'
      left = 4
    } else step = 'magic'
  }

  /** Decodes a field, which determines the next step. */
  function decide(bytes: readonly number[]): void {
    const value = bytes.reduce((sum, byte, i) => sum + byte * 2 ** (8 * i), 0)
    if (step === 'magic') step = isSkippable(value) ? 'skipSize' : value === zstdMagic ? 'descriptor' : 'rest'
    else if (step === 'skipSize') {
      left = value
      step = value === 0 ? 'magic' : 'skip'
    } else if (step === 'descriptor') {
      hasChecksum = (value & 4) !== 0
      left = headerSize(value)
      step = left === 0 ? 'block' : 'header'
    } else {
      lastBlock = (value & 1) !== 0
      // A block of one repeated byte has its count and holds the byte once.
      left = ((value >> 1) & 3) === 1 ? 1 : value >> 3
      step = 'content'
      if (left === 0) afterBlock()
    }
  }

  return {
    end: () => (step === 'rest' ? 'rest' : step === 'magic' && field.length === 0 ? 'whole' : 'cut'),
    push(chunk) {
      const pieces: ZstdPiece[] = []
      let at = 0
      /** Start of the current frame's bytes. */
      let from = 0
      while (at < chunk.length && step !== 'rest') {
        const before: Step = step
        const size = wanted[step]
        if (size === undefined) {
          const taken = Math.min(left, chunk.length - at)
          at += taken
          left -= taken
          if (left > 0) break
          if (before === 'header') step = 'block'
          else if (before === 'content') afterBlock()
          else step = 'magic'
        } else {
          field.push(chunk[at]!)
          at += 1
          if (field.length < size) continue
          const bytes = field
          field = []
          decide(bytes)
          if (before === 'magic') {
            // The frame's kind is known only now; its magic may be in the previous chunk.
            from = at
            if (step === 'descriptor') pieces.push({ bytes: Uint8Array.from(bytes), last: false })
          }
        }
        if (before !== 'skip' && before !== 'skipSize' && before !== 'magic' && step === 'magic')
          pieces.push({ bytes: chunk.subarray(from, at), last: true })
        if (step === 'magic') from = at
      }
      const inFrame = step !== 'magic' && step !== 'skip' && step !== 'skipSize' && step !== 'rest'
      if (inFrame && from < at) pieces.push({ bytes: chunk.subarray(from, at), last: false })
      return pieces
    },
  }
}

export const zstdMagic = 0xfd2fb528

/** Frames for a tool's own data, often the first of a file. */
export function isSkippable(magic: number): boolean {
  return magic >= 0x184d2a50 && magic <= 0x184d2a5f
}

/** Bytes of a frame's header after its descriptor. */
function headerSize(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0
  const contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!
  const dictionaryId = [0, 1, 2, 4][descriptor & 3]!
  return (isSingleSegment ? 0 : 1) + dictionaryId + contentSize
}
