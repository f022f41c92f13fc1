/** The largest value, at least `least`. `Math.max(...many)` would overflow the stack. */
export function maxOf(values: Iterable<number>, least: number): number {
  let max = least
  for (const value of values) max = Math.max(max, value)
  return max
}

/** The smallest value; Infinity without any. */
export function minOf(values: Iterable<number>): number {
  let min = Infinity
  for (const value of values) min = Math.min(min, value)
  return min
}
