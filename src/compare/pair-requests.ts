import { memberOf, membersOf } from '../wire/index.js'
import type { Alignment } from './align.js'
import type { ComparedRecording } from './compare-recordings.js'
import { diffJson } from './json-diff.js'
import { marksOf, subjectAt, type RecordingIndex } from './recording-index.js'
import { createTolerance } from './tolerance.js'

/** A redacted request asks for the same as any that differs from it in nothing but what was taken out. */
export async function pairRedacted(
  before: ComparedRecording,
  after: ComparedRecording,
  alignment: Alignment,
): Promise<void> {
  const left = alignment.unpaired()
  const free = new Set(left.after)
  for (const row of left.before) {
    for (const other of free) {
      const secret = before.index.hasSecrets(row) || after.index.hasSecrets(other)
      if (!secret || !sameSubject(before.index, row, after.index, other)) continue
      const [old, now] = [await requestOf(before, row), await requestOf(after, other)]
      if (!old.params || !now.params || !asksForTheSame(old, now)) continue
      alignment.pair(row, other)
      free.delete(other)
      break
    }
  }
}

/**
 * What a server asks may have a clock or an id in it: of those that are left, the first belongs to the first of the same
 * method, as in a replay.
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

function asksForTheSame(
  old: { params: { text: string } | undefined; redacted: string[] },
  now: { params: { text: string } | undefined; redacted: string[] },
): boolean {
  const [a, b] = [old.params!.text, now.params!.text]
  const [aSpan, bSpan] = [a, b].map((text) => ({ start: 0, end: text.length }))
  const tolerance = createTolerance(
    { text: a, span: aSpan!, redacted: old.redacted },
    { text: b, span: bSpan!, redacted: now.redacted },
    [],
    new Set(['/_meta']),
  )
  return diffJson(a, aSpan!, b, bSpan!, { tolerance }).differences.length === 0
}

/** What a request asks for. */
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

function sameSubject(index: RecordingIndex, row: number, otherIndex: RecordingIndex, other: number): boolean {
  const [a, b] = [subjectAt(index, row), subjectAt(otherIndex, other)]
  return a.method === b.method && a.name === b.name && a.direction === b.direction
}
