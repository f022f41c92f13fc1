import { existsSync, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LiveCapture } from '../control/index.js'
import { isShipped, segmentPath, summarizeTape, type TapeSummary } from '../tape/index.js'

/** Younger tapes count as live: their recorder may not be registered yet. */
const settledMs = 10_000

/** A segment that is not appended to. */
export interface FinishedSegment extends TapeSummary {
  readonly session: string
  readonly segment: number
}

/** The state of a folder of recordings. */
export interface FolderState {
  /** Not in the store yet, oldest first. */
  readonly waiting: readonly FinishedSegment[]
  /** Bytes of all tapes, live ones included. */
  readonly sizeBytes: number
}

/**
 * Segments that ended (by rotation, or with their recording) and are not in the store. If the recorder died
 * without an `end` line, the recording is finished as it stands.
 */
export async function findFinished(
  folder: string,
  captures: readonly LiveCapture[],
  target: string,
  nowMs = Date.now(),
): Promise<FolderState> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const waiting: FinishedSegment[] = []
  let sizeBytes = 0
  for (const name of names) {
    if (name.startsWith('.') || !name.endsWith('.jsonl')) continue
    const path = join(folder, name)
    const found = await stat(path).catch(() => undefined)
    if (!found?.isFile()) continue
    sizeBytes += found.size
    if (isShipped(path, target, found.size)) continue
    const tape = await summarizeTape(path).catch(() => undefined)
    if (!tape || !isFinished(tape, captures, nowMs - found.mtimeMs)) continue
    const { session = `tape-${name}`, segment } = tape.place
    waiting.push({ ...tape, session, segment })
  }
  const start = (tape: TapeSummary): string => tape.meta.startedAt
  waiting.sort((a, b) => (start(a) < start(b) ? -1 : start(a) > start(b) ? 1 : a.segment - b.segment))
  return { waiting, sizeBytes }
}

function isFinished(tape: TapeSummary, captures: readonly LiveCapture[], idleMs: number): boolean {
  if (tape.end) return true
  const base = basePath(tape)
  // The thread that wrote it died; another thread continued in the next file.
  if (base !== undefined && existsSync(segmentPath(base, tape.place.segment + 1))) return true
  const live = captures.some(
    (capture) => capture.session === tape.meta.wiretape?.session || capture.tape === tape.path,
  )
  return !live && idleMs >= settledMs
}

function basePath({ path, place: { segment } }: TapeSummary): string | undefined {
  if (segment === 0) return path
  const ending = `.${segment}.jsonl`
  return path.endsWith(ending) ? `${path.slice(0, -ending.length)}.jsonl` : undefined
}

/** Current size of a file; undefined if deleted. */
export function sizeNow(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}
