import {
  createLatencies,
  verdicts,
  zeroCounts,
  type ComparisonSummary,
  type ExchangeComparison,
} from '../compare/index.js'
import type { RunTime } from './run-options.js'

/** What the exchanges of a run come to. */
export interface Tally extends Pick<ComparisonSummary, 'counts'> {
  readonly times: readonly RunTime[]
  count(comparison: ExchangeComparison): void
  latency(): ComparisonSummary['latency']
  /** No exchange differs. */
  isSame(): boolean
}

export function createTally(): Tally {
  const counts = zeroCounts()
  const times: RunTime[] = []
  const latencies = createLatencies()
  return {
    counts,
    times,
    count({ verdict, method, name, direction, before, after }) {
      counts[verdict] += 1
      const subject = name === undefined ? { method, direction } : { method, direction, name }
      latencies.add(subject, before?.latencyUs, after?.latencyUs)
      times.push({ subject, beforeUs: before?.latencyUs, afterUs: after?.latencyUs })
    },
    latency: () => latencies.list(),
    isSame: () => verdicts.every((verdict) => verdict === 'same' || counts[verdict] === 0),
  }
}
