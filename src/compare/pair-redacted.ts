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
  const pairs = new RedactedPairs(alignment)
  const left = alignment.unpaired()
  const others = bySubject(after, left.after)
  for (const [subject, rows] of bySubject(before, left.before)) {
    const same = others.get(subject)
    if (!same) continue
    const hasSecrets =
      rows.some((row) => before.index.hasSecrets(row)) || same.some((row) => after.index.hasSecrets(row))
    if (!hasSecrets) continue
    const now = await pairs.byPlaces(after, same)
    for (const old of await pairs.byPlaces(before, rows)) for (const each of now) await pairs.pair(old, each)
  }
}

class RedactedPairs {
  readonly #alignment: Alignment
  #reads = 0

  constructor(alignment: Alignment) {
    this.#alignment = alignment
  }

  async byPlaces(recording: ComparedRecording, rows: readonly number[]): Promise<Unpaired[]> {
    const groups = new Map<string, Unpaired>()
    for (const row of rows) {
      let places: readonly string[] = []
      if (recording.index.hasSecrets(row)) {
        const { record, part } = await this.#read(recording, row)
        places = marksOf(record, part).map(({ at }) => at)
      }
      const key = places.join('\n')
      const group = groups.get(key)
      if (group) group.rows.push(row)
      else groups.set(key, { recording, rows: [row], places })
    }
    return [...groups.values()]
  }

  async pair(old: Unpaired, now: Unpaired): Promise<void> {
    const hidden = [...new Set([...old.places, ...now.places])]
    // Without redaction, different hashes mean different requests.
    if (hidden.length === 0 || old.rows.length === 0 || now.rows.length === 0) return
    if (this.#reads + old.rows.length + now.rows.length > mostReads) return
    const free = new Map<string, number[]>()
    for (const row of now.rows.toReversed()) {
      const key = await this.#keyOf(now.recording, row, hidden)
      const rows = free.get(key)
      if (rows) rows.push(row)
      else free.set(key, [row])
    }
    const [left, taken]: [number[], Set<number>] = [[], new Set()]
    for (const row of old.rows) {
      const other = free.get(await this.#keyOf(old.recording, row, hidden))?.pop()
      if (other === undefined) {
        left.push(row)
        continue
      }
      this.#alignment.pair(row, other)
      taken.add(other)
    }
    old.rows = left
    now.rows = now.rows.filter((row) => !taken.has(row))
  }

  async #read(recording: ComparedRecording, row: number): Promise<{ record: MessageRecord; part: number }> {
    this.#reads += 1
    const { locator, part } = recording.index.place(row)
    return { record: await recording.read(locator), part }
  }

  async #keyOf(recording: ComparedRecording, row: number, hidden: readonly string[]): Promise<string> {
    const { record, part } = await this.#read(recording, row)
    const { start, end, envelope } = record.parts[part]!
    const redacted = hidden.map((at) => ({ at, tag: '' }))
    return requestHashes(record.raw.slice(start, end), envelope.method ?? '', redacted).join(' ')
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
