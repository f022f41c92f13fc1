import { HeldBytes } from './held-bytes.js'
import { longestMessage } from './limits.js'
import { readSseBlock, type SseFields } from './sse-fields.js'

/**
 * One block of a `text/event-stream`, up to its blank line (WHATWG HTML, 9.2). Blocks for which a browser
 * dispatches no event count too: only comments, only an `id`, or unknown fields.
 */
export interface SseEvent extends SseFields {
  /** Bytes of the block, including its line ends but not the blank line. */
  readonly sizeBytes: number
  /** The block is larger than `maxBytes`, and only its size is known. */
  readonly tooLong?: true
  /** Bytes from the start of the stream to the end of the blank line. */
  readonly endOffset: number
  /** False when the stream ended before the blank line. By the standard, clients then drop the event. */
  readonly complete: boolean
}

const LF = 0x0a
const CR = 0x0d
const BOM = Uint8Array.of(0xef, 0xbb, 0xbf)
const NOTHING = new Uint8Array(0)

/** The meaning of the last CR, which may be the first half of CR LF. */
type OpenCr =
  | 'none'
  /** The end of a line that was not blank. */
  | 'line'
  /** The end of a blank line that completes an event; the event waits for a possible LF. */
  | 'blank'
  /** The end of a blank line that completes no event. */
  | 'passed'

/** Sans-IO: bytes in, events out. Every split of the same bytes gives the same events. */
export class SseParser {
  readonly #maxBytes: number
  readonly #held = new HeldBytes()
  /** The first bytes, while they may still be a byte order mark. Undefined once decided. */
  #lead: Uint8Array | undefined = NOTHING
  /** Stream offset of the next byte to arrive. */
  #offset = 0
  /** Bytes of the current block in earlier chunks. Above `maxBytes`, none are held. */
  #earlierBytes = 0
  /** Whether the current line has no bytes yet. */
  #atLineStart = true
  #openCr: OpenCr = 'none'
  /** Whether the previous line ended with a CR alone. */
  #bareCr = false

  /**
   * @param options.maxBytes the largest block that is kept. It is held as bytes while it arrives; its event takes
   *   a small multiple of that.
   */
  constructor({ maxBytes = longestMessage }: { maxBytes?: number } = {}) {
    this.#maxBytes = maxBytes
  }

  /**
   * The events that `chunk` completes. The parser may keep views of `chunk`: the caller must not write into it
   * again.
   */
  push(chunk: Uint8Array): SseEvent[] {
    if (!this.#lead) return this.#feed(chunk, 0)
    const first = this.#lead.length === 0 ? chunk : joined(this.#lead, chunk)
    const mark = first.subarray(0, BOM.length)
    const isMark = mark.every((byte, i) => byte === BOM[i])
    if (isMark && mark.length < BOM.length) {
      this.#lead = mark.slice()
      return []
    }
    this.#lead = undefined
    if (isMark) this.#offset = BOM.length
    return this.#feed(first, isMark ? BOM.length : 0)
  }

  /** Whether the next byte begins a block. */
  get isBetween(): boolean {
    return (
      this.#earlierBytes === 0 &&
      this.#openCr === 'none' &&
      (this.#lead?.length ?? 0) === 0 &&
      this.#atLineStart
    )
  }

  /** Counts whole blocks that the caller read itself, in a chunk without a byte order mark; only `isBetween`. */
  pass(sizeBytes: number): void {
    this.#lead = undefined
    this.#offset += sizeBytes
  }

  /** End of stream: returns the incomplete event, if there is one. */
  end(): SseEvent[] {
    if (this.#lead) {
      this.#keep(this.#lead)
      this.#offset = this.#lead.length
      this.#lead = undefined
    }
    const complete = this.#openCr === 'blank'
    this.#openCr = 'none'
    return this.#earlierBytes > 0 ? [this.#finish(NOTHING, this.#offset, complete)] : []
  }

  /** @param rest the last bytes of the block, which are not held */
  #finish(rest: Uint8Array, endOffset: number, complete: boolean): SseEvent {
    const sizeBytes = this.#earlierBytes + rest.length
    const place = { sizeBytes, endOffset, complete }
    let event: SseEvent = { tooLong: true, ...place }
    if (sizeBytes <= this.#maxBytes) {
      const bytes = this.#held.length > 0 ? this.#held.takeJoined(rest, sizeBytes) : rest
      event = { ...readSseBlock(bytes), ...place }
    }
    this.#held.clear()
    this.#earlierBytes = 0
    this.#bareCr = false
    return event
  }

  #feed(chunk: Uint8Array, start: number): SseEvent[] {
    const events: SseEvent[] = []
    const base = this.#offset - start
    this.#offset += chunk.length - start
    /** Start of the current block in this chunk; `at` is the current position. */
    let from = start
    let at = start
    let nextLf = -1
    let nextCr = -1
    while (at < chunk.length) {
      if (this.#openCr !== 'none') {
        const isLf = chunk[at] === LF
        if (this.#openCr === 'line') this.#bareCr = !isLf
        if (isLf) at += 1
        if (this.#openCr === 'blank')
          events.push(this.#finish(this.#blockEnd(chunk, from, at, isLf), base + at, true))
        if (this.#openCr !== 'line') from = at
        this.#openCr = 'none'
        continue
      }
      if (nextLf < at) nextLf = indexOrEnd(chunk, LF, at)
      if (nextCr < at) nextCr = indexOrEnd(chunk, CR, at)
      const lineEnd = Math.min(nextLf, nextCr)
      if (lineEnd > at) this.#atLineStart = false
      if (lineEnd === chunk.length) break
      const isCr = lineEnd === nextCr
      at = lineEnd + 1
      if (!this.#atLineStart) {
        this.#atLineStart = true
        this.#bareCr = false
        if (isCr) this.#openCr = 'line'
        continue
      }
      const isEmpty = this.#earlierBytes + lineEnd - from === 0
      // Where lines end with CR alone, do not wait for an LF, which may never come.
      if (isCr && !isEmpty && !this.#bareCr) {
        this.#openCr = 'blank'
        continue
      }
      if (!isEmpty) events.push(this.#finish(chunk.subarray(from, lineEnd), base + at, true))
      if (isCr) this.#openCr = 'passed'
      from = at
    }
    this.#keep(this.#blockEnd(chunk, from, chunk.length, false))
    return events
  }

  /** Bytes of the block up to `end`, without a blank line at the end. */
  #blockEnd(chunk: Uint8Array, from: number, end: number, hasLf: boolean): Uint8Array {
    const blankLine = (this.#openCr === 'blank' ? 1 : 0) + (hasLf ? 1 : 0)
    return chunk.subarray(from, Math.max(from, end - blankLine))
  }

  #keep(bytes: Uint8Array): void {
    this.#earlierBytes += bytes.length
    if (this.#earlierBytes > this.#maxBytes) this.#held.clear()
    else this.#held.add(bytes)
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

function indexOrEnd(bytes: Uint8Array, byte: number, from: number): number {
  const index = bytes.indexOf(byte, from)
  return index < 0 ? bytes.length : index
}
