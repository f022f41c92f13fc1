import type { Needle } from '../../filter/index.js'
import { lentBytes, openRecording } from '../../tape/index.js'
import { withProgress } from '../progress.js'
import type { LinePlace } from '../quick-load.js'
import { withSegments } from '../with-segments.js'
import type { ScopedRecording } from './scope.js'

/** Lines of a recording that may contain a filter's text. */
export interface SpottedLines {
  /** No line contains it. */
  readonly isEmpty: boolean
  /** Must be called in line order per file. True if unknown. */
  has(place: LinePlace | undefined): boolean
}

interface SpottedFile {
  /** Byte offsets of matches, at least one per matching line. */
  readonly offsets: number[]
  /** Bytes searched, since a live recording grows. */
  readonly sizeBytes: number
  next: number
}

/**
 * Searches the bytes of a recording for a filter's text. No line is parsed: a recording without matches costs only
 * its reading. Undefined if the bytes of the recording do not suffice.
 */
export async function spotLines(
  recording: ScopedRecording,
  needle: Needle,
): Promise<SpottedLines | undefined> {
  const paths = recording.meta ? recording.paths : await tapesOf(recording)
  if (!paths) return undefined
  const files = new Map<string, SpottedFile>()
  for (const path of paths) files.set(path, await spotIn(path, recording, needle))
  return {
    isEmpty: [...files.values()].every(({ offsets }) => offsets.length === 0),
    has(place) {
      const file = place && files.get(place.path)
      if (!file) return true
      const { offset, sizeBytes } = place
      const { offsets } = file
      while (file.next < offsets.length && offsets[file.next]! < offset) file.next += 1
      return offsets[file.next]! < offset + sizeBytes || offset + sizeBytes > file.sizeBytes
    },
  }
}

/** Other files than tapes may be compressed or encode their texts differently. */
async function tapesOf({ paths }: ScopedRecording): Promise<readonly string[] | undefined> {
  try {
    const all = await withSegments(paths, '/')
    for (const path of all) if ((await openRecording(path)).format.id !== 'trace-v1') return undefined
    return all
  } catch {
    // Reading it later reports the error.
    return undefined
  }
}

async function spotIn(
  path: string,
  { name, sizeBytes }: ScopedRecording,
  { pattern, mostBytes }: Needle,
): Promise<SpottedFile> {
  const every = new RegExp(pattern.source, 'gi')
  const offsets: number[] = []
  let begin = 0
  let rest = ''

  /** @param base offset of the text in the file */
  function look(text: string, base: number): void {
    every.lastIndex = 0
    for (let found = every.exec(text); found; found = every.exec(text)) {
      const offset = base + found.index
      if (offset > (offsets.at(-1) ?? -1)) offsets.push(offset)
      // The rest of the line adds nothing.
      const lf = text.indexOf('\n', found.index)
      if (lf < 0) return
      every.lastIndex = lf
    }
  }

  for await (const chunk of withProgress(name, lentBytes(path, Infinity), sizeBytes)) {
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')
    // Search across the chunk boundary.
    if (rest !== '') look(rest + text.slice(0, mostBytes), begin - rest.length)
    look(text, begin)
    begin += text.length
    rest = text.length > mostBytes ? text.slice(-mostBytes) : rest + text
  }
  return { offsets, sizeBytes: begin, next: 0 }
}
