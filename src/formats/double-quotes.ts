const QUOTE = 0x22

/**
 * Copies bytes and doubles their quotes.
 *
 * @param target may be the source, if `at` is lower than `start` by the number of quotes
 * @returns the end in the target
 */
export function doubleQuotes(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  let to = at
  for (let from = start; from < end; from += 1) {
    const byte = source[from]!
    target[to++] = byte
    if (byte === QUOTE) target[to++] = QUOTE
  }
  return to
}
