import type { Direction, EntryTable } from '../../model/index.js'

/** Response times of one side. */
export interface Latency {
  readonly p50Us: number
  readonly p95Us: number
  readonly slowestUs: number
  /** Message number of the slowest response. */
  readonly slowest: number
  readonly answers: number
  /** Excluded time, in which a server waited for its client. */
  readonly waitedUs: number
}

/** For responses in `direction`; undefined without any, or without known times. */
export function latencyOf(entries: EntryTable, direction: Direction): Latency | undefined {
  let answers = 0
  for (const _ of timedAnswers(entries, direction)) answers += 1
  if (answers === 0) return undefined
  const all = new Float64Array(answers)
  let slowest = -1
  let i = 0
  let waitedUs = 0
  let slowestUs = -1
  for (const { row, us } of timedAnswers(entries, direction)) {
    all[i] = us
    i += 1
    waitedUs += entries.waitedUs(row)
    if (us <= slowestUs) continue
    slowestUs = us
    slowest = row
  }
  all.sort()
  const at = (share: number): number => all[Math.max(0, Math.ceil(share * answers) - 1)]!
  return {
    p50Us: at(0.5),
    p95Us: at(0.95),
    slowestUs: at(1),
    slowest: entries.seq(slowest),
    answers,
    waitedUs,
  }
}

function* timedAnswers(
  entries: EntryTable,
  direction: Direction,
): Generator<{ readonly row: number; readonly us: number }> {
  for (let row = 0; row < entries.length; row += 1) {
    const kind = entries.kind(row)
    if ((kind === 'result' || kind === 'error') && entries.peer(row) >= 0 && !entries.has(row, 'late')) {
      const us = entries.direction(row) === direction ? entries.latencyUs(row) : undefined
      if (us !== undefined) yield { row, us }
    }
  }
}
