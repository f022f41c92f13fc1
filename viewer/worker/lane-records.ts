import { TraceScan, type TraceLine } from '../../src/formats/index.js'
import type { Diagnostic, TapeRecord } from '../../src/model/index.js'
import { brokenLine, type LaneIndex } from './lane.js'

const bytesAtOnce = 1 << 20

/** Reads a lane's records again, up to its last known row. Each call continues where the last one ended. */
export interface LaneRecords {
  /**
   * @param breathe yields to other tasks; returns false once the result is no longer needed
   * @returns whether this call reached the end of the lane
   */
  readOn(breathe: () => Promise<boolean>): Promise<boolean>
}

/** @param take is also called for broken lines, since they have rows */
export function createLaneRecords(lane: LaneIndex, take: (record: TapeRecord) => void): LaneRecords {
  const scan = new TraceScan((problem) => {
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
