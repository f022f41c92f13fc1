/** A hundred years. A line may hold any number; larger ones cannot come from a clock. */
const longestUs = 100 * 366 * 86_400 * 1e6
export function isMeasurable(us: number): boolean {
  return Math.abs(us) <= longestUs
}
