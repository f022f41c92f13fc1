import {
  createKnownFaults,
  createLatencies,
  createOwnAnswers,
  createShortTimeOuts,
  createVariedCounts,
  verdicts,
  zeroCounts,
  type ComparisonSummary,
  type ExchangeComparison,
  type Subject,
} from '../compare/index.js'
import { createIntColumn, createNumberColumn } from '../model/index.js'
import type { RunTime } from './run-options.js'

/** Sums up the exchanges of a run. */
export interface Tally extends Pick<ComparisonSummary, 'counts'> {
  readonly times: Iterable<RunTime>
  count(comparison: ExchangeComparison): void
  latency(): ComparisonSummary['latency']
  notes(): readonly string[]
  varied(): Pick<ComparisonSummary, 'varied'>
  /** True if no exchange differs. */
  isSame(): boolean
}

/** @param timeoutMs time limit for one response */
export function createTally(timeoutMs: number): Tally {
  const counts = zeroCounts()
  /** For each exchange: the number of its subject, and its latencies; NaN if unknown. */
  const columns = {
    subjects: createIntColumn(),
    before: createNumberColumn(NaN),
    after: createNumberColumn(NaN),
  }
  const latencies = createLatencies()
  const varied = createVariedCounts()
  const noted = [createKnownFaults(), createOwnAnswers(), createShortTimeOuts(timeoutMs)]
  const subjects: Subject[] = []
  const numbers = new Map<string, number>()

  function numberOf({ method, name, direction }: ExchangeComparison): number {
    const key = `${direction} ${method}${name === undefined ? '' : `\n${name}`}`
    const before = numbers.get(key)
    if (before !== undefined) return before
    const number = subjects.push(name === undefined ? { method, direction } : { method, direction, name }) - 1
    numbers.set(key, number)
    return number
  }

  function* times(): Generator<RunTime, void, undefined> {
    for (let i = 0; i < columns.subjects.length; i += 1)
      yield {
        subject: subjects[columns.subjects.get(i)]!,
        beforeUs: knownUs(columns.before.get(i)),
        afterUs: knownUs(columns.after.get(i)),
      }
  }

  return {
    counts,
    times: { [Symbol.iterator]: times },
    count(comparison) {
      const { verdict, before, after } = comparison
      counts[verdict] += 1
      for (const each of noted) each.take(comparison)
      varied.take(comparison)
      const number = numberOf(comparison)
      latencies.add(subjects[number]!, before?.latencyUs, after?.latencyUs)
      columns.subjects.push(number)
      columns.before.push(before?.latencyUs ?? NaN)
      columns.after.push(after?.latencyUs ?? NaN)
    },
    notes: () => noted.flatMap((each) => each.notes()),
    varied: () => varied.member(),
    latency: () => latencies.list(),
    isSame: () => verdicts.every((verdict) => verdict === 'same' || counts[verdict] === 0),
  }
}

function knownUs(us: number): number | undefined {
  return Number.isNaN(us) ? undefined : us
}
