import { JsonObject } from '../wire/index.js'
import type { Slice } from './tape-pieces.js'
import type { TapeView } from './tape-view.js'

/** How far behind the end of the tape an onlooker may fall before the rest is left out for it. */
const mostBehindBytes = 16 * 1024 * 1024

/** Which lines are wanted: all, those from a message number on, or only what comes. */
export type Start = number | 'now'

/** What a reading gave. */
export type Followed =
  /** Whole lines without line feeds, in order; `end` when it is all there is so far. They are there until `release`. */
  | {
      readonly kind: 'lines'
      readonly lines: readonly Buffer[]
      readonly end: boolean
      release(): void
    }
  /** This many lines were passed over, to be up to date again. */
  | { readonly kind: 'gap'; readonly lines: number; readonly sizeBytes: number }
  /** Segments were deleted before they were read. */
  | { readonly kind: 'deleted' }

/**
 * Reads a tape while it is written, from segment to segment, at the pace of whoever wants it. What it gives is on the
 * disk already, so nothing is kept for slow readers.
 */
export interface TapeFollower {
  next(): Promise<Followed>
}

export function createTapeFollower(tape: TapeView, start: Start): TapeFollower {
  let segment = 0
  let position = 0
  let rest: Buffer[] = []
  let restBytes = 0
  /** Up to date once: from then on it may be left behind. */
  let live = false
  /** Lines before this message number are passed over. */
  let from = start === 'now' ? 0 : start
  /** In the middle of a line, of which the start was passed over. */
  let torn = false
  let started = start !== 'now'
  /** Lines of the segment that end before the position. Undefined where nobody has counted them. */
  let seen: number | undefined = 0
  /** Segments went that nobody has told of yet. */
  let deleted = false

  /** Goes on in the next segment, when there is one: then this one has its last line. */
  async function advance(): Promise<boolean> {
    const after = await tape.after(segment)
    if (after === undefined) return false
    deleted ||= after > segment + 1 || !(await tape.has(segment))
    segment = after
    position = 0
    rest = []
    restBytes = 0
    torn = false
    seen = 0
    return true
  }

  async function read(slices: Slice[]): Promise<Buffer | undefined> {
    const slice = await tape.read(segment, position)
    if (!slice) return undefined
    slices.push(slice)
    position += slice.bytes.length
    return slice.bytes
  }

  const linesOf = (lines: readonly Buffer[], slices: readonly Slice[], end: boolean): Followed => ({
    kind: 'lines',
    lines,
    end,
    release() {
      for (const slice of slices) slice.release()
    },
  })

  async function next(): Promise<Followed> {
    if (!started) return begin()
    const skipped = live ? await skip() : undefined
    if (skipped) return skipped
    const lines: Buffer[] = []
    const slices: Slice[] = []
    for (;;) {
      if (deleted) {
        if (lines.length > 0) return linesOf(lines, slices, false)
        for (const slice of slices) slice.release()
        deleted = false
        return { kind: 'deleted' }
      }
      const chunk = await read(slices)
      if (!chunk) {
        // Written to after we read it, and left since: what was written comes first.
        const isLast = (await tape.after(segment)) === undefined
        if (!isLast) tape.grew()
        const more = await read(slices)
        if (more) {
          take(more, lines)
          continue
        }
        if (!isLast && (await advance())) continue
        live = true
        return linesOf(lines, slices, true)
      }
      take(chunk, lines)
      if (lines.length > 0) return linesOf(lines, slices, false)
    }
  }

  /** Only the meta line of what there is. */
  async function begin(): Promise<Followed> {
    started = true
    const lines: Buffer[] = []
    const slices: Slice[] = []
    if (!(await tape.has(segment))) await advance()
    for (let chunk = await read(slices); chunk && lines.length === 0; chunk = await read(slices))
      take(chunk, lines)
    while (await advance());
    await toEnd()
    deleted = false
    live = true
    return linesOf(lines.slice(0, 1), slices, true)
  }

  async function toEnd(): Promise<void> {
    seen = tape.linesOf(segment)
    const size = await tape.sizeOf(segment)
    rest = []
    restBytes = 0
    torn = seen === undefined && size > 0 && !(await tape.linesIn(segment, size - 1, size)).endsLine
    position = size
  }

  /** Leaves out what is too much to catch up with. */
  async function skip(): Promise<Followed | undefined> {
    const written = tape.linesOf(segment)
    const size = await tape.sizeOf(segment)
    if (size - position <= mostBehindBytes) return undefined
    const sizeBytes = restBytes + size - position
    rest = []
    restBytes = 0
    if (written !== undefined && seen !== undefined) {
      const lines = written - seen
      seen = written
      position = size
      torn = false
      return { kind: 'gap', lines, sizeBytes }
    }
    seen = undefined
    const { lines, endsLine } = await tape.linesIn(segment, position, size)
    position = size
    torn = !endsLine
    return { kind: 'gap', lines: lines + (torn ? 1 : 0), sizeBytes }
  }

  function take(chunk: Buffer, lines: Buffer[]): void {
    let at = 0
    for (let lf = chunk.indexOf(0x0a); lf !== -1; lf = chunk.indexOf(0x0a, at)) {
      const end = chunk.subarray(at, lf)
      const line = rest.length === 0 ? end : Buffer.concat([...rest, end])
      rest = []
      restBytes = 0
      at = lf + 1
      if (seen !== undefined) seen += 1
      if (torn) torn = false
      else if (isWanted(line)) lines.push(line)
    }
    if (at === chunk.length || torn) return
    // A copy: the piece is somebody else's after this.
    rest.push(Buffer.from(chunk.subarray(at)))
    restBytes += chunk.length - at
  }

  /** Meta lines always are; everything is from the first message on that has the number. */
  function isWanted(line: Buffer): boolean {
    if (from === 0) return true
    const object = new JsonObject(line.toString(), 0)
    const seq = object.number('seq')
    if (seq !== undefined && seq >= from) from = 0
    return from === 0 || object.string('type') === 'meta'
  }

  return { next }
}
