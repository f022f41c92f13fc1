import type { Needle } from '../../filter/index.js'
import { lentBytes } from '../../tape/index.js'
import { withProgress } from '../progress.js'
import type { ScopedRecording } from './scope.js'

/**
 * Whether the bytes of a recording hold what a filter looks for. Reads up to the first place. No line is taken apart: a
 * recording in which nothing matches costs what reading it costs.
 */
export async function mayMatch(recording: ScopedRecording, { pattern, mostBytes }: Needle): Promise<boolean> {
  // What is no tape may be packed, or write its texts in another way.
  if (!recording.meta) return true
  for (const path of recording.paths) {
    let rest = ''
    const bytes = lentBytes(path, Infinity)
    for await (const chunk of withProgress(recording.name, bytes, recording.sizeBytes)) {
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')
      // The end of the last chunk is looked at with the start of this one.
      if (rest !== '' && pattern.test(rest + text.slice(0, mostBytes))) return true
      if (pattern.test(text)) return true
      rest = text.length > mostBytes ? text.slice(-mostBytes) : rest + text
    }
  }
  return false
}
