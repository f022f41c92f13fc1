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
  const files = new Map<number, Promise<FileHandle | undefined>>()
  /** Not there when it was last looked for. */
  const missing = new Set<number>()
  const sizes = new Map<number, Promise<number>>()
  const pieces = createTapePieces()
  /** How many lines end in a whole chunk of a segment, by number and position. */
  const counts = new Map<string, number>()
  /** One after the other: whoever reads finds what the one before has read, and counting has one piece of memory. */
  let turn: Promise<unknown> = Promise.resolve()

  function fileOf(segment: number): Promise<FileHandle | undefined> {
    const known = files.get(segment)
    if (known) {
      files.delete(segment)
      files.set(segment, known)
      return known
    }
    const opened = open(tape.segmentPath(segment), 'r').catch(() => {
      missing.add(segment)
      return undefined
    })
    files.set(segment, opened)
    if (files.size > mostFiles) {
      const [oldest, file] = files.entries().next().value!
      files.delete(oldest)
      missing.delete(oldest)
      void inTurn(async () => (await file)?.close())
    }
    return opened
  }

  async function has(segment: number): Promise<boolean> {
    const end = tape.end()
    return end && end.segment < segment ? false : (await fileOf(segment)) !== undefined
  }

  async function after(segment: number): Promise<number | undefined> {
    if (await has(segment + 1)) return segment + 1
    const last = tape.end()?.segment ?? segment
    // Those that were deleted are the oldest.
    let from = segment + 2
    for (let to = last; from < to;) {
      const middle = Math.floor((from + to) / 2)
      if (await has(middle)) to = middle
      else from = middle + 1
    }
    return from <= last && (await has(from)) ? from : undefined
  }

  function endOf(segment: number): ReturnType<TapeSource['end']> {
    const end = tape.end()
    return end?.segment === segment ? end : undefined
  }

  function sizeOf(segment: number): Promise<number> {
    const end = endOf(segment)
    if (end) return Promise.resolve(end.sizeBytes)
    const known = sizes.get(segment)
    if (known) return known
    const size = fileOf(segment).then(async (file) => (await file?.stat())?.size ?? 0)
    sizes.set(segment, size)
    return size
  }

  async function readPiece(segment: number, start: number): Promise<Slice | undefined> {
    const known = pieces.find(segment, start)
    if (known) return known
    const left = (await sizeOf(segment)) - start
    const file = await fileOf(segment)
    if (!file || left <= 0) return undefined
    const memory = pieces.memory()
    const { bytesRead } = await file.read(memory, 0, Math.min(left, pieceBytes), start)
    const lastEnd = memory.subarray(0, bytesRead).lastIndexOf(LF) + 1
    pieces.add(segment, start, memory, lastEnd === 0 ? bytesRead : lastEnd)
    return pieces.find(segment, start)
  }

  async function countIn(segment: number, start: number, end: number): Promise<number> {
    const key = `${segment} ${start}`
    const isWhole = end - start === pieceBytes
    const known = isWhole ? counts.get(key) : undefined
    if (known !== undefined) return known
    const memory = pieces.memory()
    const read = await (await fileOf(segment))?.read(memory, 0, end - start, start)
    const bytes = memory.subarray(0, read?.bytesRead ?? 0)
    let lines = 0
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines += 1
    pieces.add(segment, start, memory, 0)
    if (isWhole) counts.set(key, lines)
    return lines
  }

  async function countLines(
    segment: number,
    start: number,
    end: number,
  ): Promise<{ lines: number; endsLine: boolean }> {
    let lines = 0
    for (let at = start; at < end;) {
      const next = Math.min(end, (Math.floor(at / pieceBytes) + 1) * pieceBytes)
      lines += await countIn(segment, at, next)
      at = next
    }
    return { lines, endsLine: (await countIn(segment, end - 1, end)) === 1 }
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work)
    turn = done.catch(() => undefined)
    return done
  }

  return {
    grew() {
      sizes.clear()
      for (const segment of missing) files.delete(segment)
      missing.clear()
    },
    read: (segment, position) => inTurn(() => readPiece(segment, position)),
    sizeOf,
    linesOf: (segment) => endOf(segment)?.lines,
    linesIn: (segment, start, end) => inTurn(() => countLines(segment, start, end)),
    has,
    after,
    async close() {
      const open = [...files.values()]
      files.clear()
      for (const file of open) await (await file)?.close()
    },
  }
}
