import type { MessageRecord } from '../model/index.js'
import type { Alignment } from './align.js'
import type { ComparedRecording } from './comparison.js'
import { marksOf, requestHashes, subjectAt } from './recording-index.js'

/** Limit of requests read: each once per combination of redacted places. */
const mostReads = 500_000

/** Rows of one recording without a partner so far. */
interface Unpaired {
  readonly recording: ComparedRecording
  rows: number[]
  /** JSON Pointers to the redacted values in each of them. */
  readonly places: readonly string[]
}

/**
 * Pairs requests that differ only in redacted values: places that are redacted on either side are excluded from the
 * comparison.
 */
export async function pairRedacted(
  before: ComparedRecording,
  after: ComparedRecording,
  alignment: Alignment,
): Promise<void> {
  const left = alignment.unpaired()
  let reads = 0

  async function read(
    recording: ComparedRecording,
    row: number,
  ): Promise<{ record: MessageRecord; part: number }> {
    reads += 1
    const { locator, part } = recording.index.place(row)
    return { record: await recording.read(locator), part }
  }

  async function byPlaces(recording: ComparedRecording, rows: readonly number[]): Promise<Unpaired[]> {
    const groups = new Map<string, Unpaired>()
    for (const row of rows) {
      let places: readonly string[] = []
      if (recording.index.hasSecrets(row)) {
        const { record, part } = await read(recording, row)
        places = marksOf(record, part).map(({ at }) => at)
      }
      const key = places.join('\n')
      const group = groups.get(key)
      if (group) group.rows.push(row)
      else groups.set(key, { recording, rows: [row], places })
    }
    return [...groups.values()]
  }

  async function keyOf(
    recording: ComparedRecording,
    row: number,
    hidden: readonly string[],
  ): Promise<string> {
    const { record, part } = await read(recording, row)
    const { start, end, envelope } = record.parts[part]!
    const redacted = hidden.map((at) => ({ at, tag: '' }))
    return requestHashes(record.raw.slice(start, end), envelope.method ?? '', redacted).join(' ')
  }

  async function pair(old: Unpaired, now: Unpaired): Promise<void> {
    const hidden = [...new Set([...old.places, ...now.places])]
    // Without redaction, different hashes mean different requests.
    if (hidden.length === 0 || old.rows.length === 0 || now.rows.length === 0) return
    if (reads + old.rows.length + now.rows.length > mostReads) return
    const free = new Map<string, number[]>()
    for (const row of now.rows.toReversed()) {
      const key = await keyOf(now.recording, row, hidden)
      const rows = free.get(key)
      if (rows) rows.push(row)
      else free.set(key, [row])
    }
    const [left, taken]: [number[], Set<number>] = [[], new Set()]
    for (const row of old.rows) {
      const other = free.get(await keyOf(old.recording, row, hidden))?.pop()
      if (other === undefined) {
        left.push(row)
        continue
      }
      alignment.pair(row, other)
      taken.add(other)
    }
    old.rows = left
    now.rows = now.rows.filter((row) => !taken.has(row))
  }

  const others = bySubject(after, left.after)
  for (const [subject, rows] of bySubject(before, left.before)) {
    const same = others.get(subject)
    if (!same) continue
    const hasSecrets =
      rows.some((row) => before.index.hasSecrets(row)) || same.some((row) => after.index.hasSecrets(row))
    if (!hasSecrets) continue
    const now = await byPlaces(after, same)
    for (const old of await byPlaces(before, rows)) for (const each of now) await pair(old, each)
  }
}

function bySubject({ index }: ComparedRecording, rows: readonly number[]): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (const row of rows) {
    const { method, name, direction } = subjectAt(index, row)
    const key = JSON.stringify([method, name, direction])
    const group = groups.get(key)
    if (group) group.push(row)
    else groups.set(key, [row])
  }
  return groups
}
