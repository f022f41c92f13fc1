import { createTraceScan, type TraceLine } from '../../src/formats/index.js'
import type { Diagnostic, TapeRecord } from '../../src/model/index.js'
import { brokenLine, type LaneIndex } from './lane.js'

const bytesAtOnce = 1 << 20

/** Reads the records of a lane again, as far as its rows are known; each call goes on where the one before ended. */
export interface LaneRecords {
  /**
   * @param breathe lets others have a turn; false when nobody waits for this any more
   * @returns whether it was read to its end by this call
   */
  readOn(breathe: () => Promise<boolean>): Promise<boolean>
}

/** @param take gets a record for a broken line too, as it has a row */
export function createLaneRecords(lane: LaneIndex, take: (record: TapeRecord) => void): LaneRecords {
  const scan = createTraceScan((problem) => {
    if (brokenLine.has(problem.code)) take(gapOf(problem))
  })
  const takeLine = ({ record }: TraceLine): void => take(record)
  let read = 0
  let isOver = false
  return {
    async readOn(breathe) {
      const { bytesRead } = lane.describe()
      while (read < bytesRead) {
        const chunk = await lane.source.slice(read, Math.min(bytesAtOnce, bytesRead - read))
        if (chunk.length === 0) break
        read += chunk.length
        scan.push(chunk, takeLine)
        if (!(await breathe())) return false
      }
      if (!lane.isOver || isOver || read < lane.describe().bytesRead) return false
      isOver = true
      scan.end(takeLine)
      return true
    },
  }
}

function gapOf({ at, message }: Diagnostic): TapeRecord {
  return { type: 'gap', t: '', us: 0, lost: 1, why: `line ${at?.line ?? '?'} is broken: ${message}` }
}
