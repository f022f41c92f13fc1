import type { Finding, FindingsByRow } from '../../src/findings/index.js'
import { createTraceScan, type TraceLine } from '../../src/formats/index.js'
import { createFold, WiretapeError, type Diagnostic, type TapeRecord } from '../../src/model/index.js'
import { idKey } from '../../src/wire/index.js'
import { loadedEngine, type Engine } from '../patterns/loaded.js'
import { brokenLine, type LaneIndex } from './lane.js'

/** What rules find in the lanes of a library, which are one run; read only when a filter asks for it. */
export interface LibraryFindings {
  of(lane: LaneIndex): LaneFindings
}

export interface LaneFindings extends FindingsByRow {
  /**
   * Reads what came since.
   *
   * @param breathe lets others have a turn; false when nobody waits for this any more
   */
  catchUp(breathe: () => Promise<boolean>): Promise<void>
  /** Findings so far; rows of those from a number on are asked for by whoever saw the ones before. */
  readonly count: number
  rowsSince(count: number): number[]
}

const bytesAtOnce = 1 << 20

export function createLibraryFindings(): LibraryFindings {
  let engine: Engine['findings'] | undefined
  let run: ReturnType<Engine['findings']['createFindings']> | undefined
  const lanes = new Map<LaneIndex, LaneFindings>()
  return {
    of(lane) {
      const known = lanes.get(lane)
      if (known) return known
      engine ??= loadedEngine()?.findings
      if (!engine) throw new WiretapeError('usage', 'The rules cannot be used: patterns.js did not arrive.')
      run ??= engine.createFindings(engine.rules)
      const made = findingsOf(lane, run, engine.findingsByRow)
      lanes.set(lane, made)
      return made
    },
  }
}

function findingsOf(
  lane: LaneIndex,
  engine: ReturnType<Engine['findings']['createFindings']>,
  findingsByRow: Engine['findings']['findingsByRow'],
): LaneFindings {
  const fold = createFold(idKey)
  const run = engine.begin(fold)
  const scan = createTraceScan((problem) => {
    if (brokenLine.has(problem.code)) take(gapOf(problem))
  })
  let read = 0
  let isOver = false
  let indexed = 0
  let byRow = findingsByRow([])
  let last: Promise<void> = Promise.resolve()

  /** Rows have to be those of the lane, where a note has one too. */
  function take(record: TapeRecord): void {
    const isNote = record.type === 'note'
    const rows = fold.push(isNote ? { ...record, type: 'stderr' } : record)
    run.take(record, isNote ? { first: rows.first, count: 0 } : rows)
  }
  const takeLine = ({ record }: TraceLine): void => take(record)

  async function readOn(breathe: () => Promise<boolean>): Promise<void> {
    const { bytesRead } = lane.describe()
    while (read < bytesRead) {
      const chunk = await lane.source.slice(read, Math.min(bytesAtOnce, bytesRead - read))
      if (chunk.length === 0) break
      read += chunk.length
      scan.push(chunk, takeLine)
      if (!(await breathe())) return
    }
    if (lane.isOver && !isOver && read >= lane.describe().bytesRead) {
      isOver = true
      scan.end(takeLine)
      run.finish()
    }
  }

  return {
    catchUp(breathe) {
      last = last.catch(() => undefined).then(() => readOn(breathe))
      return last
    },
    at(row) {
      if (indexed !== run.found.length) {
        indexed = run.found.length
        byRow = findingsByRow(run.found)
      }
      return byRow.at(row)
    },
    get count() {
      return run.found.length
    },
    rowsSince: (count) =>
      run.found.slice(count).flatMap(({ rows }: Finding) => rows.filter((row) => row >= 0)),
  }
}

function gapOf({ at, message }: Diagnostic): TapeRecord {
  return { type: 'gap', t: '', us: 0, lost: 1, why: `line ${at?.line ?? '?'} is broken: ${message}` }
}
