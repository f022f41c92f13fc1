import {
  createLatencies,
  verdicts,
  zeroCounts,
  type ComparisonSummary,
  type ExchangeComparison,
  type Subject,
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
  const subjects = new Map<string, Subject>()

  /** One object for all that are about the same. */
  function subjectOf({ method, name, direction }: ExchangeComparison): Subject {
    const key = `${direction} ${method}${name === undefined ? '' : `\n${name}`}`
    const known = subjects.get(key)
    if (known) return known
    const subject = name === undefined ? { method, direction } : { method, direction, name }
    subjects.set(key, subject)
    return subject
  }

  return {
    counts,
    times,
    count(comparison) {
      const { verdict, before, after } = comparison
      counts[verdict] += 1
      const subject = subjectOf(comparison)
      latencies.add(subject, before?.latencyUs, after?.latencyUs)
      times.push({ subject, beforeUs: before?.latencyUs, afterUs: after?.latencyUs })
    },
    latency: () => latencies.list(),
    isSame: () => verdicts.every((verdict) => verdict === 'same' || counts[verdict] === 0),
  }
}
