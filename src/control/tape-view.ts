import { open, type FileHandle } from 'node:fs/promises'
import type { TapeSource } from './host.js'
import { createTapePieces, pieceBytes, type Slice } from './tape-pieces.js'

/** The files of a tape that is being written, read once for all who follow it. */
export interface TapeView {
  /** More may be on the disk. */
  grew(): void
  /** What stands there: whole lines, where one fits; undefined at the end, and where there is no such file. */
  read(segment: number, position: number): Promise<Slice | undefined>
  sizeOf(segment: number): Promise<number>
  /** Lines in the segment as long as `sizeOf` says it is. Undefined where they would have to be counted. */
  linesOf(segment: number): number | undefined
  /** How many lines end between two positions, and whether the last byte there ends one. */
  linesIn(segment: number, start: number, end: number): Promise<{ lines: number; endsLine: boolean }>
  /** Whether there is a file of that number. */
  has(segment: number): Promise<boolean>
  /** The next segment that is there: the oldest ones may have been deleted. Undefined where there is none yet. */
  after(segment: number): Promise<number | undefined>
  close(): Promise<void>
}

const LF = 0x0a
/** Files that are kept open: one that was deleted takes its place on the disk as long. */
const mostFiles = 8

export function createTapeView(tape: TapeSource): TapeView {
  return new RenderedTape(tape)
}

class RenderedTape implements TapeView {
  readonly #tape: TapeSource
  readonly #files = new Map<number, Promise<FileHandle | undefined>>()
  /** Not there when it was last looked for. */
  readonly #missing = new Set<number>()
  readonly #sizes = new Map<number, Promise<number>>()
  readonly #pieces = createTapePieces()
  /** How many lines end in a whole chunk of a segment, by number and position. */
  readonly #counts = new Map<string, number>()
  /** One after the other: whoever reads finds what the one before has read, and counting has one piece of memory. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(tape: TapeSource) {
    this.#tape = tape
  }

  grew(): void {
    this.#sizes.clear()
    for (const segment of this.#missing) this.#files.delete(segment)
    this.#missing.clear()
  }

  read(segment: number, position: number): Promise<Slice | undefined> {
    return this.#inTurn(() => this.#readPiece(segment, position))
  }

  linesOf(segment: number): number | undefined {
    return this.#endOf(segment)?.lines
  }

  linesIn(segment: number, start: number, end: number): Promise<{ lines: number; endsLine: boolean }> {
    return this.#inTurn(() => this.#countLines(segment, start, end))
  }

  async close(): Promise<void> {
    const open = [...this.#files.values()]
    this.#files.clear()
    for (const file of open) await (await file)?.close()
  }

  #fileOf(segment: number): Promise<FileHandle | undefined> {
    const known = this.#files.get(segment)
    if (known) {
      this.#files.delete(segment)
      this.#files.set(segment, known)
      return known
    }
    const opened = open(this.#tape.segmentPath(segment), 'r').catch(() => {
      this.#missing.add(segment)
      return undefined
    })
    this.#files.set(segment, opened)
    if (this.#files.size > mostFiles) {
      const [oldest, file] = this.#files.entries().next().value!
      this.#files.delete(oldest)
      this.#missing.delete(oldest)
      void this.#inTurn(async () => (await file)?.close())
    }
    return opened
  }

  async has(segment: number): Promise<boolean> {
    const end = this.#tape.end()
    return end && end.segment < segment ? false : (await this.#fileOf(segment)) !== undefined
  }

  async after(segment: number): Promise<number | undefined> {
    if (await this.has(segment + 1)) return segment + 1
    const last = this.#tape.end()?.segment ?? segment
    // Those that were deleted are the oldest.
    let from = segment + 2
    for (let to = last; from < to;) {
      const middle = Math.floor((from + to) / 2)
      if (await this.has(middle)) to = middle
      else from = middle + 1
    }
    return from <= last && (await this.has(from)) ? from : undefined
  }

  #endOf(segment: number): ReturnType<TapeSource['end']> {
    const end = this.#tape.end()
    return end?.segment === segment ? end : undefined
  }

  sizeOf(segment: number): Promise<number> {
    const end = this.#endOf(segment)
    if (end) return Promise.resolve(end.sizeBytes)
    const known = this.#sizes.get(segment)
    if (known) return known
    const size = this.#fileOf(segment).then(async (file) => (await file?.stat())?.size ?? 0)
    this.#sizes.set(segment, size)
    return size
  }

  async #readPiece(segment: number, start: number): Promise<Slice | undefined> {
    const known = this.#pieces.find(segment, start)
    if (known) return known
    const left = (await this.sizeOf(segment)) - start
    const file = await this.#fileOf(segment)
    if (!file || left <= 0) return undefined
    const memory = this.#pieces.memory()
    const { bytesRead } = await file.read(memory, 0, Math.min(left, pieceBytes), start)
    const lastEnd = memory.subarray(0, bytesRead).lastIndexOf(LF) + 1
    this.#pieces.add(segment, start, memory, lastEnd === 0 ? bytesRead : lastEnd)
    return this.#pieces.find(segment, start)
  }

  async #countIn(segment: number, start: number, end: number): Promise<number> {
    const key = `${segment} ${start}`
    const isWhole = end - start === pieceBytes
    const known = isWhole ? this.#counts.get(key) : undefined
    if (known !== undefined) return known
    const memory = this.#pieces.memory()
    const read = await (await this.#fileOf(segment))?.read(memory, 0, end - start, start)
    const bytes = memory.subarray(0, read?.bytesRead ?? 0)
    let lines = 0
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines += 1
    this.#pieces.add(segment, start, memory, 0)
    if (isWhole) this.#counts.set(key, lines)
    return lines
  }

  async #countLines(
    segment: number,
    start: number,
    end: number,
  ): Promise<{ lines: number; endsLine: boolean }> {
    let lines = 0
    for (let at = start; at < end;) {
      const next = Math.min(end, (Math.floor(at / pieceBytes) + 1) * pieceBytes)
      lines += await this.#countIn(segment, at, next)
      at = next
    }
    return { lines, endsLine: (await this.#countIn(segment, end - 1, end)) === 1 }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }
}
