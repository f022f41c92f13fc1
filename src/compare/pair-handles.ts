import { elementsOf, kindAt, membersOf, spliceText, type TextEdit } from '../wire/index.js'
import type { Alignment } from './align.js'
import { deepest } from './canonical-json.js'
import type { ComparedRecording } from './comparison.js'
import { isIdName, type Links } from './made-ids.js'
import { marksOf, requestHashes, subjectAt, type RecordingIndex } from './recording-index.js'

/** Exchanges that are read at most. */
const mostReads = 500_000

/**
 * A request that gives back what an answer of its own run had made (an id, the number of a process) asks for the same as
 * the one that gives back what stood there in the other run.
 *
 * @param learn compares the answers of two requests, so that `links` knows what they made
 */
export async function pairHandles(
  before: ComparedRecording,
  after: ComparedRecording,
  alignment: Alignment,
  links: Links,
  learn: (row: number, other: number) => Promise<void>,
): Promise<void> {
  const left = alignment.unpaired()
  const free = new Map<string, number[]>()
  for (const row of left.after.toReversed()) {
    if (!isOfClient(after.index, row)) continue
    const key = [subjectAt(after.index, row).method, ...after.index.key(row)].join(' ')
    const rows = free.get(key)
    if (rows) rows.push(row)
    else free.set(key, [row])
  }
  const open = new Set(left.before.filter((row) => isOfClient(before.index, row)))
  if (free.size === 0 || open.size === 0) return
  const last = Math.max(...[...open].slice(-1))
  let reads = 0
  for (const row of before.index.requests) {
    if (row > last || reads > mostReads) return
    let other = alignment.partnerOf(row)
    if (other === undefined && open.has(row)) {
      reads += 1
      other = free.get(await keyWithLinks(before, row, links))?.pop()
      if (other !== undefined) alignment.pair(row, other)
    }
    if (other === undefined) continue
    reads += 2
    await learn(row, other)
  }
}

function isOfClient(index: RecordingIndex, row: number): boolean {
  return subjectAt(index, row).direction === 'client_to_server'
}

async function keyWithLinks(recording: ComparedRecording, row: number, links: Links): Promise<string> {
  const { index } = recording
  const { locator, part } = index.place(row)
  const record = await recording.read(locator)
  const { start, end } = record.parts[part]!
  const { method } = subjectAt(index, row)
  const text = withLinks(record.raw.slice(start, end), links)
  return [method, ...requestHashes(text, method, marksOf(record, part))].join(' ')
}

/** A request with the values of the other run in it. */
function withLinks(request: string, links: Links): string {
  const edits: TextEdit[] = []

  function visit(start: number, end: number, name: string, depth: number): void {
    const kind = kindAt(request, start)
    const text = request.slice(start, end)
    if (kind === 'string') {
      const value = JSON.parse(text) as string
      const other =
        linkOf(value, name) ?? value.replaceAll(/[^\s/?&=,;:#'"]{4,}/g, (word) => links.of(word) ?? word)
      if (other !== value) edits.push({ start, end, text: JSON.stringify(other) })
    } else if (kind === 'number') {
      const other = linkOf(text, name)
      if (other !== undefined) edits.push({ start, end, text: other })
    } else if (depth === deepest) return
    else if (kind === 'array')
      for (const element of elementsOf(request, start)) visit(element.start, element.end, name, depth + 1)
    else if (kind === 'object')
      for (const member of membersOf(request, start)) visit(member.start, member.end, member.name, depth + 1)
  }

  /** A number names something only where its member says so. */
  function linkOf(value: string, name: string): string | undefined {
    if (!/^\d+$/.test(value)) return links.of(value)
    return isIdName(name)
      ? (links.of(`pid ${value}`) ?? links.of(`id ${value}`))?.replace(/^\w+ /, '')
      : undefined
  }

  for (const { name, start, end } of membersOf(request, 0)) if (name === 'params') visit(start, end, '', 0)
  return spliceText(request, edits)
}
