/** The largest of any number of values, `least` among them: `Math.max(...many)` overflows the stack. */
export function maxOf(values: Iterable<number>, least: number): number {
  let max = least
  for (const value of values) max = Math.max(max, value)
  return max
}

/** The smallest of any number of values; Infinity of none. */
export function minOf(values: Iterable<number>): number {
  let min = Infinity
  for (const value of values) min = Math.min(min, value)
  return min
}
