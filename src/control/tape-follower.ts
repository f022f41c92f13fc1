import { open, type FileHandle } from 'node:fs/promises'
import { JsonObject } from '../wire/index.js'
import type { TapeSource } from './host.js'

/** Read at a time. */
const chunkBytes = 256 * 1024
/** How far behind the end of the tape an onlooker may fall before the rest is left out for it. */
const mostBehindBytes = 16 * 1024 * 1024

/** Which lines are wanted: all, those from a message number on, or only what comes. */
export type Start = number | 'now'

/** What a reading gave. */
export type Followed =
  /** Whole lines without line feeds, in order; `end` when it is all there is so far. */
  | { readonly kind: 'lines'; readonly lines: readonly Buffer[]; readonly end: boolean }
  /** This many lines were passed over, to be up to date again. */
  | { readonly kind: 'gap'; readonly lines: number; readonly sizeBytes: number }

/**
 * Reads a tape while it is written, from segment to segment, at the pace of whoever wants it. What it gives is on the
 * disk already, so nothing is kept for slow readers.
 */
export interface TapeFollower {
  next(): Promise<Followed>
  close(): Promise<void>
}

export function createTapeFollower(tape: TapeSource, start: Start): TapeFollower {
  let segment = 0
  let file: FileHandle | undefined
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
  async function current(): Promise<FileHandle | undefined> {
    return (file ??= await open(tape.segmentPath(segment), 'r').catch(() => undefined))
  }

  /** Goes on in the next segment, when there is one: then this one has its last line. */
  async function advance(): Promise<boolean> {
    const next = await open(tape.segmentPath(segment + 1), 'r').catch(() => undefined)
    if (!next) return false
    await file?.close()
    file = next
    segment += 1
    position = 0
    rest = []
    restBytes = 0
    torn = false
    return true
  }

  async function read(): Promise<Buffer | undefined> {
    const handle = await current()
    if (!handle) return undefined
    // A new one each time: lines are views of it until they are sent.
    const buffer = Buffer.allocUnsafeSlow(chunkBytes)
    const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position)
    position += bytesRead
    return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead)
  }

  async function next(): Promise<Followed> {
    if (!started) return begin()
    const skipped = live ? await skip() : undefined
    if (skipped) return skipped
    const lines: Buffer[] = []
    for (;;) {
      const chunk = await read()
      if (!chunk) {
        // Written to after we read it, and left since: what was written comes first.
        const isLast = !(await hasNext())
        const more = await read()
        if (more) {
          take(more, lines)
          continue
        }
        if (!isLast && (await advance())) continue
        live = true
        return { kind: 'lines', lines, end: true }
      }
      take(chunk, lines)
      if (lines.length > 0) return { kind: 'lines', lines, end: false }
    }
  }

  async function hasNext(): Promise<boolean> {
    const handle = await open(tape.segmentPath(segment + 1), 'r').catch(() => undefined)
    await handle?.close()
    return handle !== undefined
  }

  /** Only the meta line of what there is. */
  async function begin(): Promise<Followed> {
    started = true
    const lines: Buffer[] = []
    for (let chunk = await read(); chunk && lines.length === 0; chunk = await read()) take(chunk, lines)
    while (await advance());
    await toEnd()
    live = true
    return { kind: 'lines', lines: lines.slice(0, 1), end: true }
  }

  async function toEnd(): Promise<void> {
    const handle = await current()
    const size = (await handle?.stat())?.size ?? 0
    rest = []
    restBytes = 0
    torn = false
    if (size > 0) {
      const last = Buffer.alloc(1)
      const { bytesRead } = await handle!.read(last, 0, 1, size - 1)
      torn = bytesRead === 1 && last[0] !== 0x0a
    }
    position = size
  }

  /** Leaves out what is too much to catch up with. */
  async function skip(): Promise<Followed | undefined> {
    const handle = await current()
    const size = (await handle?.stat())?.size ?? 0
    if (size - position <= mostBehindBytes) return undefined
    let lines = 0
    let sizeBytes = restBytes
    rest = []
    restBytes = 0
    while (position < size) {
      const chunk = await read()
      if (!chunk) break
      sizeBytes += chunk.length
      for (let at = chunk.indexOf(0x0a); at !== -1; at = chunk.indexOf(0x0a, at + 1)) lines += 1
      torn = chunk.at(-1) !== 0x0a
    }
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
      if (torn) torn = false
      else if (isWanted(line)) lines.push(line)
    }
    if (at === chunk.length || torn) return
    rest.push(chunk.subarray(at))
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

  return {
    next,
    async close() {
      await file?.close()
      file = undefined
    },
  }
}
