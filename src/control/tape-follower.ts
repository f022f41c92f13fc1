import { JsonObject } from '../wire/index.js'
import type { Slice } from './tape-pieces.js'
import type { TapeView } from './tape-view.js'

/** How many bytes a client may fall behind before it misses lines. */
const mostBehindBytes = 16 * 1024 * 1024

/** First line wanted: all lines, those from a message number on, or new ones only. */
export type Start = number | 'now'

/** Result of one read. */
export type Followed =
  /** Whole lines without line feeds, in order; `end` if no more are available yet. Valid until `release`. */
  | {
      readonly kind: 'lines'
      readonly lines: readonly Buffer[]
      readonly end: boolean
      release(): void
    }
  /** Lines skipped to catch up. */
  | { readonly kind: 'gap'; readonly lines: number; readonly sizeBytes: number }
  /** Segments were deleted before they were read. */
  | { readonly kind: 'deleted' }

/**
 * Reads a tape while it is written, across segments, at the reader's pace. All data is already on disk, so nothing is
 * buffered for slow readers.
 */
export interface TapeFollower {
  next(): Promise<Followed>
}

export function createTapeFollower(tape: TapeView, start: Start): TapeFollower {
  return new FollowedTape(tape, start)
}

class FollowedTape implements TapeFollower {
  readonly #tape: TapeView
  #segment = 0
  #position = 0
  #rest: Buffer[] = []
  #restBytes = 0
  /** Has caught up once; from then on, lines may be skipped. */
  #live = false
  /** Lines before this message number are skipped. */
  #from
  /** The position is inside a line whose start was skipped. */
  #torn = false
  #started
  /** Lines of the segment that end before the position. Undefined if not counted. */
  #seen: number | undefined = 0
  /** Segments were deleted and not yet reported. */
  #deleted = false
  readonly #linesOf = (lines: readonly Buffer[], slices: readonly Slice[], end: boolean): Followed => ({
    kind: 'lines',
    lines,
    end,
    release() {
      for (const slice of slices) slice.release()
    },
  })

  constructor(tape: TapeView, start: Start) {
    this.#tape = tape
    this.#from = start === 'now' ? 0 : start
    this.#started = start !== 'now'
  }

  /** Continues with the next segment, if there is one: then the current segment is complete. */
  async #advance(): Promise<boolean> {
    const after = await this.#tape.after(this.#segment)
    if (after === undefined) return false
    this.#deleted ||= after > this.#segment + 1 || !(await this.#tape.has(this.#segment))
    this.#segment = after
    this.#position = 0
    this.#rest = []
    this.#restBytes = 0
    this.#torn = false
    this.#seen = 0
    return true
  }

  async #read(slices: Slice[]): Promise<Buffer | undefined> {
    const slice = await this.#tape.read(this.#segment, this.#position)
    if (!slice) return undefined
    slices.push(slice)
    this.#position += slice.bytes.length
    return slice.bytes
  }

  async next(): Promise<Followed> {
    if (!this.#started) return this.#begin()
    const skipped = this.#live ? await this.#skip() : undefined
    if (skipped) return skipped
    const lines: Buffer[] = []
    const slices: Slice[] = []
    for (;;) {
      if (this.#deleted) {
        if (lines.length > 0) return this.#linesOf(lines, slices, false)
        for (const slice of slices) slice.release()
        this.#deleted = false
        return { kind: 'deleted' }
      }
      const chunk = await this.#read(slices)
      if (!chunk) {
        // The segment may have grown after the last read and before it was closed; those bytes come first.
        const isLast = (await this.#tape.after(this.#segment)) === undefined
        if (!isLast) this.#tape.grew()
        const more = await this.#read(slices)
        if (more) {
          this.#take(more, lines)
          continue
        }
        if (!isLast && (await this.#advance())) continue
        this.#live = true
        return this.#linesOf(lines, slices, true)
      }
      this.#take(chunk, lines)
      if (lines.length > 0) return this.#linesOf(lines, slices, false)
    }
  }

  /** Reads only the meta line of the existing tape. */
  async #begin(): Promise<Followed> {
    this.#started = true
    const lines: Buffer[] = []
    const slices: Slice[] = []
    if (!(await this.#tape.has(this.#segment))) await this.#advance()
    for (let chunk = await this.#read(slices); chunk && lines.length === 0; chunk = await this.#read(slices))
      this.#take(chunk, lines)
    while (await this.#advance());
    await this.#toEnd()
    this.#deleted = false
    this.#live = true
    return this.#linesOf(lines.slice(0, 1), slices, true)
  }

  async #toEnd(): Promise<void> {
    this.#seen = this.#tape.linesOf(this.#segment)
    const size = await this.#tape.sizeOf(this.#segment)
    this.#rest = []
    this.#restBytes = 0
    this.#torn =
      this.#seen === undefined &&
      size > 0 &&
      !(await this.#tape.linesIn(this.#segment, size - 1, size)).endsLine
    this.#position = size
  }

  /** Skips lines if the backlog is too large. */
  async #skip(): Promise<Followed | undefined> {
    const written = this.#tape.linesOf(this.#segment)
    const size = await this.#tape.sizeOf(this.#segment)
    if (size - this.#position <= mostBehindBytes) return undefined
    const sizeBytes = this.#restBytes + size - this.#position
    this.#rest = []
    this.#restBytes = 0
    if (written !== undefined && this.#seen !== undefined) {
      const lines = written - this.#seen
      this.#seen = written
      this.#position = size
      this.#torn = false
      return { kind: 'gap', lines, sizeBytes }
    }
    this.#seen = undefined
    const { lines, endsLine } = await this.#tape.linesIn(this.#segment, this.#position, size)
    this.#position = size
    this.#torn = !endsLine
    return { kind: 'gap', lines: lines + (this.#torn ? 1 : 0), sizeBytes }
  }

  #take(chunk: Buffer, lines: Buffer[]): void {
    let at = 0
    for (let lf = chunk.indexOf(0x0a); lf !== -1; lf = chunk.indexOf(0x0a, at)) {
      const end = chunk.subarray(at, lf)
      const line = this.#rest.length === 0 ? end : Buffer.concat([...this.#rest, end])
      this.#rest = []
      this.#restBytes = 0
      at = lf + 1
      if (this.#seen !== undefined) this.#seen += 1
      if (this.#torn) this.#torn = false
      else if (this.#isWanted(line)) lines.push(line)
    }
    if (at === chunk.length || this.#torn) return
    // Copied: the slice's memory is reused after its release.
    this.#rest.push(Buffer.from(chunk.subarray(at)))
    this.#restBytes += chunk.length - at
  }

  /** Meta lines are always wanted; other lines from the first message with the requested number on. */
  #isWanted(line: Buffer): boolean {
    if (this.#from === 0) return true
    const object = new JsonObject(line.toString(), 0)
    const seq = object.number('seq')
    if (seq !== undefined && seq >= this.#from) this.#from = 0
    return this.#from === 0 || object.string('type') === 'meta'
  }
}
