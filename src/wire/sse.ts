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

/** Sans-IO: bytes in, events out. Every split of the same bytes gives the same events. */
export interface SseParser {
  /**
   * The events that `chunk` completes. The parser may keep views of `chunk`: the caller must not write into it
   * again.
   */
  push(chunk: Uint8Array): SseEvent[]
  /** End of stream: returns the incomplete event, if there is one. */
  end(): SseEvent[]
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

/**
 * @param options.maxBytes the largest block that is kept. It is held as bytes while it arrives; its event takes
 *   a small multiple of that.
 */
export function createSseParser({ maxBytes = longestMessage }: { maxBytes?: number } = {}): SseParser {
  const held = new HeldBytes()
  /** The first bytes, while they may still be a byte order mark. Undefined once decided. */
  let lead: Uint8Array | undefined = NOTHING
  /** Stream offset of the next byte to arrive. */
  let offset = 0
  /** Bytes of the current block in earlier chunks. Above `maxBytes`, none are held. */
  let earlierBytes = 0
  /** Whether the current line has no bytes yet. */
  let atLineStart = true
  let openCr: OpenCr = 'none'
  /** Whether the previous line ended with a CR alone. */
  let bareCr = false

  /** @param rest the last bytes of the block, which are not held */
  function finish(rest: Uint8Array, endOffset: number, complete: boolean): SseEvent {
    const sizeBytes = earlierBytes + rest.length
    const place = { sizeBytes, endOffset, complete }
    let event: SseEvent = { tooLong: true, ...place }
    if (sizeBytes <= maxBytes) {
      const bytes = held.length > 0 ? held.takeJoined(rest, sizeBytes) : rest
      event = { ...readSseBlock(bytes), ...place }
    }
    held.clear()
    earlierBytes = 0
    bareCr = false
    return event
  }

  function feed(chunk: Uint8Array, start: number): SseEvent[] {
    const events: SseEvent[] = []
    const base = offset - start
    offset += chunk.length - start
    /** Start of the current block in this chunk; `at` is the current position. */
    let from = start
    let at = start
    let nextLf = -1
    let nextCr = -1
    while (at < chunk.length) {
      if (openCr !== 'none') {
        const isLf = chunk[at] === LF
        if (openCr === 'line') bareCr = !isLf
        if (isLf) at += 1
        if (openCr === 'blank') events.push(finish(blockEnd(chunk, from, at, isLf), base + at, true))
        if (openCr !== 'line') from = at
        openCr = 'none'
        continue
      }
      if (nextLf < at) nextLf = indexOrEnd(chunk, LF, at)
      if (nextCr < at) nextCr = indexOrEnd(chunk, CR, at)
      const lineEnd = Math.min(nextLf, nextCr)
      if (lineEnd > at) atLineStart = false
      if (lineEnd === chunk.length) break
      const isCr = lineEnd === nextCr
      at = lineEnd + 1
      if (!atLineStart) {
        atLineStart = true
        bareCr = false
        if (isCr) openCr = 'line'
        continue
      }
      const isEmpty = earlierBytes + lineEnd - from === 0
      // Where lines end with CR alone, do not wait for an LF, which may never come.
      if (isCr && !isEmpty && !bareCr) {
        openCr = 'blank'
        continue
      }
      if (!isEmpty) events.push(finish(chunk.subarray(from, lineEnd), base + at, true))
      if (isCr) openCr = 'passed'
      from = at
    }
    keep(blockEnd(chunk, from, chunk.length, false))
    return events
  }

  /** Bytes of the block up to `end`, without a blank line at the end. */
  function blockEnd(chunk: Uint8Array, from: number, end: number, hasLf: boolean): Uint8Array {
    const blankLine = (openCr === 'blank' ? 1 : 0) + (hasLf ? 1 : 0)
    return chunk.subarray(from, Math.max(from, end - blankLine))
  }

  function keep(bytes: Uint8Array): void {
    earlierBytes += bytes.length
    if (earlierBytes > maxBytes) held.clear()
    else held.add(bytes)
  }

  return {
    push(chunk) {
      if (!lead) return feed(chunk, 0)
      const first = lead.length === 0 ? chunk : joined(lead, chunk)
      const mark = first.subarray(0, BOM.length)
      const isMark = mark.every((byte, i) => byte === BOM[i])
      if (isMark && mark.length < BOM.length) {
        lead = mark.slice()
        return []
      }
      lead = undefined
      if (isMark) offset = BOM.length
      return feed(first, isMark ? BOM.length : 0)
    },

    end() {
      if (lead) {
        keep(lead)
        offset = lead.length
        lead = undefined
      }
      const complete = openCr === 'blank'
      openCr = 'none'
      return earlierBytes > 0 ? [finish(NOTHING, offset, complete)] : []
    },
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
