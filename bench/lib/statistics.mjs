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
 * The median of two lanes' ratios, round by round: a disturbance that slows both lanes in one round cancels out.
 *
 * @param {readonly number[]} values
 * @param {readonly number[]} baseline Measured in the same rounds.
 */
export const pairedRatio = (values, baseline) =>
  median(values.map((value, round) => value / (baseline[round] ?? Number.NaN)))

/**
 * The median of two lanes' differences, round by round, for the same reason.
 *
 * @param {readonly number[]} values
 * @param {readonly number[]} baseline Measured in the same rounds.
 */
export const pairedDifference = (values, baseline) =>
  median(values.map((value, round) => value - (baseline[round] ?? Number.NaN)))
