import { noTime } from '../../model/index.js'
import { foreignEnd } from '../foreign/records.js'
import type { FileInput, RecordingEnds } from '../format.js'
import { endsOfLines } from '../line-ends.js'
import { readLines } from './read.js'

/** As `readEnds` of a format. Any line may have a time, so if none is found the whole file is searched. */
export async function readLineEnds(input: FileInput): Promise<RecordingEnds | undefined> {
  const ends = await endsOfLines(input, readLines)
  if (ends?.first.type !== 'meta' || ends.last.type !== 'end') return undefined
  const isTimed = ends.first.startedAt !== noTime
  if (isTimed !== (ends.last.t !== noTime)) return undefined
  if (!isTimed && (await mayBeTimed(input))) return undefined
  // The last lines alone do not show the start time.
  return { ...ends, last: foreignEnd(ends.last.t, ends.first), nameless: true }
}

/** Start of a member with a time; any of its letters may be written as an escape. */
const signs = ['"timestamp', '\\u00']
const longestSign = Math.max(...signs.map((sign) => sign.length))

/** Searches the bytes: decoding a whole file takes three times as long. */
async function mayBeTimed(input: FileInput): Promise<boolean> {
  // The end of the previous chunk, and the start of the next.
  const seam = new Uint8Array(2 * longestSign)
  for await (const chunk of input.bytes(0, input.sizeBytes)) {
    seam.fill(0, longestSign)
    seam.set(chunk.subarray(0, longestSign), longestSign)
    if (signs.some((sign) => input.holds(chunk, sign) || input.holds(seam, sign))) return true
    const tail = chunk.subarray(-longestSign)
    // A chunk may be shorter than a sign.
    seam.copyWithin(0, tail.length, longestSign)
    seam.set(tail, longestSign - tail.length)
  }
  return false
}
