/** Splits a byte stream into lines. Copies only lines that cross chunks. Does not interpret text or JSON. */
import { HeldBytes } from './held-bytes.js'
import { longestMessage } from './limits.js'

/** The line end on the wire. */
export type LineEnd = 'lf' | 'crlf' | 'none'

/**
 * `bytes` may be a view of a pushed chunk (see `LineFramer.push`). `endOffset` counts bytes from the start of
 * the stream, including lost ones.
 */
export type LineFrame =
  | {
      readonly kind: 'line'
      /** The line without its terminator. */
      readonly bytes: Uint8Array
      readonly end: LineEnd
      /** Stream offset just after the terminator. */
      readonly endOffset: number
    }
  /** A line longer than `maxBytes` comes in pieces, so that it can be hashed and counted without being held. */
  | {
      readonly kind: 'piece'
      /** The next bytes of the line, without its terminator; may be empty only in the last piece. */
      readonly bytes: Uint8Array
      readonly last: boolean
      /** Stream offset just after `bytes`; for the last piece, just after the terminator. */
      readonly endOffset: number
    }

const LF = 0x0a
const CR = 0x0d
const NOTHING = new Uint8Array(0)

/** Bytes in, lines out. A line ends with LF or CR LF; a CR anywhere else belongs to the line. */
export class LineFramer {
  readonly #maxBytes: number
  readonly #held: HeldBytes
  /** Stream offset of the next byte to arrive. */
  #offset = 0
  /** Pieces of the current line were returned. Then only a CR that may belong to the terminator is held. */
  #overlong = false
  /** The start of the current line was lost. */
  #skipping = false

  /**
   * @param options.maxBytes the longest line, without terminator, that becomes one frame
   * @param options.borrowed whether the caller reuses a chunk once the frames of its push are handled; the framer
   *   then keeps copies only
   */
  constructor({
    maxBytes = longestMessage,
    borrowed = false,
  }: { maxBytes?: number; borrowed?: boolean } = {}) {
    this.#maxBytes = maxBytes
    this.#held = new HeldBytes(borrowed)
  }

  /**
   * The lines that `chunk` completes, including blank ones. Frames and the framer may keep views of `chunk`:
   * the caller must not write into it again (but see `borrowed`), and a kept frame keeps its chunk alive.
   */
  push(chunk: Uint8Array): LineFrame[] {
    const frames: LineFrame[] = []
    const chunkStart = this.#offset
    this.#offset += chunk.length
    let from = 0
    let lf = chunk.indexOf(LF)
    if (this.#skipping) {
      if (lf < 0) return frames
      this.#skipping = false
      from = lf + 1
      lf = chunk.indexOf(LF, from)
    }
    while (lf >= 0) {
      this.#finish(frames, chunk.subarray(from, lf), chunkStart + lf, true)
      from = lf + 1
      lf = chunk.indexOf(LF, from)
    }
    if (from < chunk.length) this.#hold(frames, from === 0 ? chunk : chunk.subarray(from))
    return frames
  }

  /** End of stream: returns the last line without LF, if there is one. */
  end(): LineFrame[] {
    const frames: LineFrame[] = []
    if (this.#overlong || this.#held.length > 0) this.#finish(frames, NOTHING, this.#offset, false)
    return frames
  }

  /**
   * `lostBytes` of the stream are missing. Discards the partial line and, unless `atLineStart`, everything up
   * to the next LF. An incomplete overlong line gets no last piece.
   */
  lose(lostBytes: number, atLineStart: boolean): void {
    this.#offset += lostBytes
    this.#held.clear()
    this.#overlong = false
    this.#skipping = !atLineStart
  }

  /** Whole lines passed that another reader has handled. Only when nothing is held. */
  skip(bytes: number): void {
    this.#offset += bytes
  }

  /** Bytes of the incomplete line. */
  get pendingBytes(): number {
    return this.#held.length
  }

  /** Whether the next byte begins a line and nothing is held, so that `skip` may be called. */
  get isAtLineStart(): boolean {
    return this.#held.length === 0 && !this.#overlong && !this.#skipping
  }

  /** A line ended: `rest` is its last part, `restEnd` the stream offset after that, where an LF may follow. */
  #finish(frames: LineFrame[], rest: Uint8Array, restEnd: number, hasLf: boolean): void {
    const hasCr = hasLf && (rest.length > 0 ? rest[rest.length - 1] : this.#held.lastByte) === CR
    const length = this.#held.length + rest.length - (hasCr ? 1 : 0)
    if (this.#overlong || length > this.#maxBytes) {
      this.#finishOverlong(frames, rest, restEnd, hasLf, hasCr)
      return
    }
    let bytes = rest
    if (this.#held.length > 0) bytes = this.#held.takeJoined(rest, length)
    else if (hasCr) bytes = rest.subarray(0, length)
    const end = !hasLf ? 'none' : hasCr ? 'crlf' : 'lf'
    frames.push({ kind: 'line', bytes, end, endOffset: hasLf ? restEnd + 1 : restEnd })
  }

  #finishOverlong(
    frames: LineFrame[],
    rest: Uint8Array,
    restEnd: number,
    hasLf: boolean,
    hasCr: boolean,
  ): void {
    let pieceEnd = restEnd - this.#held.length - rest.length
    const parts = this.#takeParts(rest, hasCr)
    const final = parts.pop() ?? NOTHING
    for (const bytes of parts) {
      pieceEnd += bytes.length
      frames.push({ kind: 'piece', bytes, last: false, endOffset: pieceEnd })
    }
    frames.push({ kind: 'piece', bytes: final, last: true, endOffset: hasLf ? restEnd + 1 : restEnd })
    this.#overlong = false
  }

  /** The line continues after `tail`, which ends the chunk. A CR at its very end may be half a terminator. */
  #hold(frames: LineFrame[], tail: Uint8Array): void {
    const hasCr = tail[tail.length - 1] === CR
    if (!this.#overlong && this.#held.length + tail.length - (hasCr ? 1 : 0) <= this.#maxBytes) {
      this.#held.add(tail)
      return
    }
    this.#overlong = true
    let pieceEnd = this.#offset - this.#held.length - tail.length
    for (const bytes of this.#takeParts(tail, hasCr)) {
      pieceEnd += bytes.length
      frames.push({ kind: 'piece', bytes, last: false, endOffset: pieceEnd })
    }
    if (hasCr) this.#held.add(Uint8Array.of(CR))
  }

  /** The held bytes and `rest`, without empty parts; `withoutCr` removes the CR at the end. */
  #takeParts(rest: Uint8Array, withoutCr: boolean): Uint8Array[] {
    const parts = this.#held.takeParts()
    if (rest.length > 0) parts.push(rest)
    const tail = parts.at(-1)
    if (!withoutCr || tail === undefined) return parts
    parts.pop()
    if (tail.length > 1) parts.push(tail.subarray(0, -1))
    return parts
  }
}
