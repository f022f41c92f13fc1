import { open, type FileHandle } from 'node:fs/promises'
import type { TapeSource } from './host.js'
import { createTapePieces, pieceBytes, type Slice } from './tape-pieces.js'

/** The files of a tape that is being written, read once for all followers. */
export interface TapeView {
  /** The tape may have grown on disk. */
  grew(): void
  /** The bytes at a position: whole lines, if one fits. Undefined at the end, and if the file is missing. */
  read(segment: number, position: number): Promise<Slice | undefined>
  sizeOf(segment: number): Promise<number>
  /** Lines in the first `sizeOf` bytes of the segment. Undefined if they are not counted yet. */
  linesOf(segment: number): number | undefined
  /** Number of lines that end between two positions, and whether the last byte ends a line. */
  linesIn(segment: number, start: number, end: number): Promise<{ lines: number; endsLine: boolean }>
  /** Whether the segment's file exists. */
  has(segment: number): Promise<boolean>
  /** The next existing segment; the oldest ones may be deleted. Undefined if there is none yet. */
  after(segment: number): Promise<number | undefined>
  close(): Promise<void>
}

const LF = 0x0a
/** Files kept open. A deleted file keeps its disk space until it is closed. */
const mostFiles = 8

export function createTapeView(tape: TapeSource): TapeView {
  return new RenderedTape(tape)
}

class RenderedTape implements TapeView {
  readonly #tape: TapeSource
  readonly #files = new Map<number, Promise<FileHandle | undefined>>()
  /** Segments whose file was missing at the last look. */
  readonly #missing = new Set<number>()
  readonly #sizes = new Map<number, Promise<number>>()
  readonly #pieces = createTapePieces()
  /** Line counts of whole chunks, by segment and position. */
  readonly #counts = new Map<string, number>()
  /** Serialises reads: a later reader finds the piece that an earlier one read, and counting uses one buffer. */
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
    // Segments are deleted oldest first.
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
