/** Shorter runs of bytes are moved faster one by one. */
const shortRun = 64
const QUOTE = 0x22

/** Bytes and their place. The target may be the source, if `at` is lower than `start` by the number of quotes. */
interface Move {
  readonly source: Uint8Array
  readonly start: number
  readonly target: Uint8Array
  readonly at: number
}

/**
 * Copies bytes and doubles their quotes.
 *
 * @param latin1 the bytes with a character per byte: the engine searches texts several times as fast as bytes
 * @returns the end in the target
 */
export function doubleQuotes(latin1: string, { source, start, target, at }: Move): number {
  const end = start + latin1.length
  let from = start
  let to = at
  for (let quote = latin1.indexOf('"'); quote >= 0; quote = latin1.indexOf('"', quote + 1)) {
    const next = start + quote + 1
    if (next - from < shortRun) while (from < next) target[to++] = source[from++]!
    else {
      target.set(source.subarray(from, next), to)
      to += next - from
      from = next
    }
    target[to++] = QUOTE
  }
  target.set(source.subarray(from, end), to)
  return to + end - from
}
