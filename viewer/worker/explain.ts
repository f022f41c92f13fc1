import { isFrameRecord, createFold } from '../../src/model/index.js'
import { idKey } from '../../src/wire/index.js'
import { loadedEngine } from '../patterns/loaded.js'
import type { LaneIndex } from './lane.js'
import { createLaneRecords } from './lane-records.js'
import type { Explanation } from './protocol.js'

/** Maximum bytes of a recording read again to explain one call; memory and time grow with its rows. */
const longestRead = 32 << 20

/**
 * The sentences of `wiretape explain` about a call; left out if the recording is too long to be read again.
 *
 * @param head row of the request in the lane
 */
export async function sentencesOf(
  lane: LaneIndex,
  head: number,
  breathe: () => Promise<void>,
): Promise<Explanation> {
  const explaining = loadedEngine()?.findings
  if (lane.describe().bytesRead > longestRead) return { sentences: [], limitBytes: longestRead }
  if (!explaining) return { sentences: [] }
  const { entries } = lane.fold
  const collector = explaining.createCallCollector(lane.fold, new Set([head]))
  /** Used only to find the rows of each record. */
  const fold = createFold(idKey)
  const records = createLaneRecords(lane, (record) => {
    const { first, count } = fold.push(record.type === 'note' ? { ...record, type: 'stderr' } : record)
    // Rows that arrived meanwhile are included next time.
    if (first + count > entries.length) return
    const goesOn = record.type === 'held' && !entries.has(first, 'waiting') && !entries.has(first, 'dropped')
    if (goesOn) return
    collector.take(
      record,
      isFrameRecord(record) ? record.parts.map((part, i) => ({ row: first + i, part })) : [],
    )
  })
  await records.readOn(async () => {
    await breathe()
    return true
  })
  const [call] = collector.calls
  if (!call) return { sentences: [] }
  const { because, sentences } = explaining.tellCall(call)
  return { sentences: [because, ...sentences.map(({ text }) => text)] }
}
