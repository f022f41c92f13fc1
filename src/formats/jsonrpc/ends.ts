import { noTime } from '../../model/index.js'
import type { FileInput, RecordingEnds } from '../format.js'
import { endsOfLines } from '../line-ends.js'
import { readLines } from './read.js'

/** As `readEnds` of a format. Times of messages may stand in any line, so where none is found all are looked at. */
export async function readLineEnds(input: FileInput): Promise<RecordingEnds | undefined> {
  const ends = await endsOfLines(input, readLines)
  if (ends?.first.type !== 'meta' || ends.last.type !== 'end') return undefined
  const isTimed = ends.first.startedAt !== noTime
  if (isTimed !== (ends.last.t !== noTime)) return undefined
  return isTimed || !(await mayBeTimed(input)) ? { ...ends, nameless: true } : undefined
}

/** How a member that says a time begins; any of its letters may be written as an escape. */
const signs = ['"timestamp', '\\u00']
const longestSign = Math.max(...signs.map((sign) => sign.length))

async function mayBeTimed(input: FileInput): Promise<boolean> {
  const utf8 = new TextDecoder()
  let before = ''
  for await (const chunk of input.bytes(0, input.sizeBytes)) {
    // What is cut at the seam are characters of no sign.
    const text = utf8.decode(chunk)
    const seam = before + text.slice(0, longestSign)
    if (signs.some((sign) => text.includes(sign) || seam.includes(sign))) return true
    before = text.slice(-longestSign)
  }
  return false
}
