/** A line of a comparison. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Differences looked for; texts that differ in more are shown one after the other. */
const mostEdits = 400

/**
 * The shortest way from one text to the other, line by line (E. W. Myers, "An O(ND) Difference Algorithm and Its
 * Variations", 1986), with what both have at their ends taken away before.
 */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail += 1
  const same = (text: string): DiffLine => ({ kind: 'same', text })
  return [
    ...before.slice(0, head).map(same),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ]
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const trace = search(before, after)
  if (!trace) {
    return [
      ...before.map((text): DiffLine => ({ kind: 'removed', text })),
      ...after.map((text): DiffLine => ({ kind: 'added', text })),
    ]
  }
  const lines: DiffLine[] = []
  let x = before.length
  let y = after.length
  for (let d = trace.length - 1; d >= 0; d -= 1) {
    const furthest = trace[d]!
    const k = x - y
    const down = k === -d || (k !== d && at(furthest, k - 1) < at(furthest, k + 1))
    const previousK = down ? k + 1 : k - 1
    const previousX = d === 0 ? 0 : at(furthest, previousK)
    const previousY = d === 0 ? 0 : previousX - previousK
    while (x > previousX && y > previousY) {
      lines.push({ kind: 'same', text: before[--x]! })
      y -= 1
    }
    if (d === 0) break
    if (down) lines.push({ kind: 'added', text: after[--y]! })
    else lines.push({ kind: 'removed', text: before[--x]! })
  }
  return lines.reverse()
}

type Furthest = ReadonlyMap<number, number>

const at = (furthest: Furthest, k: number): number => furthest.get(k) ?? -1

/** How far each diagonal was reached before each number of edits; undefined when there are too many. */
function search(before: readonly string[], after: readonly string[]): Furthest[] | undefined {
  const furthest = new Map<number, number>([[1, 0]])
  const trace: Furthest[] = []
  for (let d = 0; d <= Math.min(mostEdits, before.length + after.length); d += 1) {
    trace.push(new Map(furthest))
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && at(furthest, k - 1) < at(furthest, k + 1))
      let x = down ? at(furthest, k + 1) : at(furthest, k - 1) + 1
      while (x < before.length && x - k < after.length && before[x] === after[x - k]) x += 1
      furthest.set(k, x)
      if (x >= before.length && x - k >= after.length) return trace
    }
  }
  return undefined
}
