/** A hundred years. A line may say any number; beyond this it is none that a clock has shown. */
const longestUs = 100 * 366 * 86_400 * 1e6
export function isMeasurable(us: number): boolean {
  return Math.abs(us) <= longestUs
}
