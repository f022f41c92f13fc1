// @ts-check

/**
 * @param {Iterable<number>} values At least one.
 * @param {number} share 0.5 for the median, 0.99 for p99.
 */
export function percentile(values, share) {
  const sorted = Float64Array.from(values).sort()
  const rank = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))
  return sorted[rank] ?? Number.NaN
}

/** @param {Iterable<number>} values */
export const median = (values) => percentile(values, 0.5)

/**
 * How two lanes compare: the median of their ratios round by round, so that what slowed one round down for both
 * does not count.
 *
 * @param {readonly number[]} values
 * @param {readonly number[]} baseline As many, measured in the same rounds.
 */
export const pairedRatio = (values, baseline) =>
  median(values.map((value, round) => value / (baseline[round] ?? Number.NaN)))

/**
 * The median of their differences round by round, for the same reason.
 *
 * @param {readonly number[]} values
 * @param {readonly number[]} baseline As many, measured in the same rounds.
 */
export const pairedDifference = (values, baseline) =>
  median(values.map((value, round) => value - (baseline[round] ?? Number.NaN)))
