import type { ComparisonSummary, ExchangeComparison } from './comparison.js'

/** Counts generated values that differ without counting as a difference. */
export interface VariedCounts {
  take(exchange: Pick<ExchangeComparison, 'varied'>): void
  /** The summary member; empty if no value varied. */
  member(): Pick<ComparisonSummary, 'varied'>
}

export function createVariedCounts(): VariedCounts {
  const counts = new Map<string, number>()
  return {
    take({ varied = [] }) {
      for (const { kinds } of varied) for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1)
    },
    member: () => (counts.size > 0 ? { varied: Object.fromEntries(counts) } : {}),
  }
}

/** The sums over several runs. */
export function sumOfVaried(
  all: readonly Pick<ComparisonSummary, 'varied'>[],
): Pick<ComparisonSummary, 'varied'> {
  const sum: Record<string, number> = {}
  for (const { varied = {} } of all)
    for (const [kind, count] of Object.entries(varied)) sum[kind] = (sum[kind] ?? 0) + count
  return Object.keys(sum).length > 0 ? { varied: sum } : {}
}
