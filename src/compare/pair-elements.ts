/** An element of both arrays, of the old one only, or of the new one only. */
export type ElementPair = readonly [before: number | undefined, after: number | undefined]

/** Limit of comparisons to find insertions and removals; beyond it, elements are paired by index. */
const mostComparisons = 250_000

/**
 * Pairs the elements of two arrays in order: equal ones first (a longest common subsequence), those in
 * between by index. The rest was removed or added.
 *
 * @param beforeKey key of the element at an index, equal for equal elements. Called at most once per element.
 */
export function pairElements(
  beforeLength: number,
  afterLength: number,
  beforeKey: (i: number) => string,
  afterKey: (i: number) => string,
): ElementPair[] {
  const a = keys(beforeLength, beforeKey)
  const b = keys(afterLength, afterKey)
  let start = 0
  while (start < beforeLength && start < afterLength && a(start) === b(start)) start += 1
  let aEnd = beforeLength
  let bEnd = afterLength
  while (aEnd > start && bEnd > start && a(aEnd - 1) === b(bEnd - 1)) {
    aEnd -= 1
    bEnd -= 1
  }
  // The caller compares equal elements again: their spelling may differ.
  const pairs: ElementPair[] = Array.from({ length: start }, (_, i) => [i, i] as const)
  const matches = (aEnd - start) * (bEnd - start) <= mostComparisons ? common(a, b, start, aEnd, bEnd) : []
  let i = start
  let j = start
  for (const [nextI, nextJ] of [...matches, [aEnd, bEnd] as const]) {
    while (i < nextI && j < nextJ) pairs.push([i++, j++])
    while (i < nextI) pairs.push([i++, undefined])
    while (j < nextJ) pairs.push([undefined, j++])
    if (i < aEnd && j < bEnd) pairs.push([i++, j++])
  }
  while (i < beforeLength) pairs.push([i++, j++])
  return pairs
}

function keys(length: number, keyOf: (i: number) => string): (i: number) => string {
  const known: (string | undefined)[] = Array.from({ length })
  return (i) => (known[i] ??= keyOf(i))
}

/** Index pairs of a longest common subsequence within the middle of both arrays. */
function common(
  a: (i: number) => string,
  b: (i: number) => string,
  start: number,
  aEnd: number,
  bEnd: number,
): (readonly [number, number])[] {
  const width = bEnd - start + 1
  const height = aEnd - start + 1
  const lengths = new Uint32Array(width * height)
  for (let i = height - 2; i >= 0; i -= 1) {
    for (let j = width - 2; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a(start + i) === b(start + j)
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
    }
  }
  const pairs: [number, number][] = []
  for (let i = 0, j = 0; i < height - 1 && j < width - 1;) {
    if (a(start + i) === b(start + j)) {
      pairs.push([start + i, start + j])
      i += 1
      j += 1
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) i += 1
    else j += 1
  }
  return pairs
}
