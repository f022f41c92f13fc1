import { memberOf, membersOf } from '../wire/index.js'
import type { Alignment } from './align.js'
import type { ComparedRecording } from './comparison.js'
import { marksOf, subjectAt, type RecordingIndex } from './recording-index.js'

/**
 * A server's requests may contain times or ids: the remaining ones are paired in order of their method, as in a replay.
 */
export function pairQuestions(before: RecordingIndex, after: RecordingIndex, alignment: Alignment): void {
  const left = alignment.unpaired()
  const free = new Map<string, number[]>()
  for (const other of left.after) {
    const { method, direction } = subjectAt(after, other)
    if (direction !== 'server_to_client') continue
    const list = free.get(method)
    if (list) list.push(other)
    else free.set(method, [other])
  }
  for (const list of free.values()) list.reverse()
  for (const row of left.before) {
    const { method, direction } = subjectAt(before, row)
    const other = direction === 'server_to_client' ? free.get(method)?.pop() : undefined
    if (other !== undefined) alignment.pair(row, other)
  }
}

/** The params of a request, and its redacted places. */
export async function requestOf(
  recording: ComparedRecording,
  row: number,
): Promise<{ params: { text: string } | undefined; redacted: string[] }> {
  const { locator, part } = recording.index.place(row)
  const record = await recording.read(locator)
  const { start } = record.parts[part]!
  const member = memberOf(membersOf(record.raw, start), 'params')
  const redacted = marksOf(record, part).map(({ at }) => at.slice('/params'.length))
  return { params: member && { text: record.raw.slice(member.start, member.end) }, redacted }
}
