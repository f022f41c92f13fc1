import type { Finding, FindingsByRow } from '../../src/findings/index.js'
import { createFold, WiretapeError, type TapeRecord } from '../../src/model/index.js'
import { idKey } from '../../src/wire/index.js'
import { loadedEngine, type Engine } from '../patterns/loaded.js'
import type { LaneIndex } from './lane.js'
import { createLaneRecords } from './lane-records.js'
import { createLaneCosts, type LaneCosts } from './lane-costs.js'
import type { CostList, FindingsList, ToldFinding } from './protocol.js'
import type { Shown } from './tools.js'

/** Findings in the lanes of a library, as one run; computed only when a filter needs them. */
export interface LibraryFindings {
  of(lane: LaneIndex): LaneFindings
  /** Reads all lanes up to their current ends. */
  list(lanes: readonly LaneIndex[], breathe: () => Promise<void>): Promise<FindingsList>
  /** Costs of definitions and of the results shown; reads as `list`. */
  costs(
    lanes: readonly LaneIndex[],
    breathe: () => Promise<void>,
    shownOf: (lane: LaneIndex) => Shown | undefined,
  ): Promise<CostList>
}

export interface LaneFindings extends FindingsByRow {
  /**
   * Reads the new records.
   *
   * @param breathe yields to other tasks; returns false once the result is no longer needed
   */
  catchUp(breathe: () => Promise<boolean>): Promise<void>
  /** Number of findings so far; a caller passes its last value to `rowsSince`. */
  readonly count: number
  rowsSince(count: number): number[]
  readonly found: readonly Finding[]
  /** Number of findings not kept. */
  readonly left: number
}

export function createLibraryFindings(): LibraryFindings {
  let run: Run | undefined
  const lanes = new Map<LaneIndex, LaneFindings>()
  function of(lane: LaneIndex): LaneFindings {
    const known = lanes.get(lane)
    if (known) return known
    run ??= beginRun()
    const made = findingsOf(lane, run)
    lanes.set(lane, made)
    return made
  }
  async function catchUp(all: readonly LaneIndex[], breathe: () => Promise<void>): Promise<Run> {
    for (const lane of all) {
      await of(lane).catchUp(async () => {
        await breathe()
        return true
      })
    }
    return (run ??= beginRun())
  }
  return {
    of,
    async costs(all, breathe, shownOf) {
      const { cost, engine } = await catchUp(all, breathe)
      return { costs: cost.told(shownOf), estimator: engine.estimator }
    },
    async list(all, breathe) {
      const { engine } = await catchUp(all, breathe)
      return {
        rules: engine.rules.length,
        left: all.reduce((sum, lane) => sum + of(lane).left, 0),
        findings: all.flatMap((lane) => of(lane).found.map((finding) => told(finding, lane, engine))),
      }
    },
  }
}

interface Run {
  readonly engine: Engine['findings']
  readonly findings: ReturnType<Engine['findings']['createFindings']>
  readonly cost: LaneCosts
}

/** Limit of equal findings that the page lists; there is another one for all findings of a recording. */
const mostAlike = 2_000

function beginRun(): Run {
  const engine = loadedEngine()?.findings
  if (!engine) throw new WiretapeError('usage', 'Cannot run the rules: patterns.js could not be loaded.')
  const cost = createLaneCosts(engine)
  return { engine, cost, findings: engine.createFindings([...engine.rules, cost.rule], mostAlike) }
}

function told(finding: Finding, lane: LaneIndex, engine: Engine['findings']): ToldFinding {
  const { rule, level, message, rows, at, tool, fingerprint } = finding
  return {
    lane: lane.index,
    rows: rows.filter((row) => row >= 0 && row < lane.length).map((row) => lane.globalOf(row)),
    rule: rule.id,
    title: rule.title,
    help: rule.help,
    source: rule.source,
    level,
    certainty: rule.certainty,
    message,
    at: at ?? '',
    tool: tool ?? '',
    hash: engine.hashOf(fingerprint),
  }
}

function findingsOf(lane: LaneIndex, { engine: { findingsByRow }, findings, cost }: Run): LaneFindings {
  const fold = createFold(idKey)
  const run = findings.begin(fold)
  let indexed = 0
  let byRow = findingsByRow([])
  let last: Promise<void> = Promise.resolve()

  /** Rows must be those of the lane, in which notes have rows too. */
  function take(record: TapeRecord): void {
    const isNote = record.type === 'note'
    const rows = fold.push(isNote ? { ...record, type: 'stderr' } : record)
    cost.setLane(lane)
    run.take(record, isNote ? { first: rows.first, count: 0 } : rows)
  }
  const records = createLaneRecords(lane, take)

  async function readOn(breathe: () => Promise<boolean>): Promise<void> {
    if (await records.readOn(breathe)) run.finish()
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
    get found() {
      return run.found
    },
    get left() {
      return run.left
    },
    rowsSince: (count) =>
      run.found.slice(count).flatMap(({ rows }: Finding) => rows.filter((row) => row >= 0)),
  }
}
