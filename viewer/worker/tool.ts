import { isErrorAnswer } from '../../src/model/index.js'
import type { LaneIndex } from './lane.js'
import type { Shown } from './tools.js'

/** Usage of one tool. */
export interface ToolUse {
  readonly calls: number
  /** Typical, slow and failed calls, without duplicates. */
  readonly examples: readonly Example[]
  /** Number of responses by latency; empty bins between others are kept. */
  readonly bins: readonly Bin[]
  readonly errorCount: number
  /** The most frequent texts, in descending order. */
  readonly errors: readonly ToolError[]
}

export interface Example {
  readonly row: number
  readonly why: 'first' | 'median' | 'slowest' | 'failed' | 'unanswered'
  readonly latencyUs?: number
}

export interface Bin {
  /** Microseconds; the next bin begins at twice this value. */
  readonly fromUs: number
  readonly count: number
}

export interface ToolError {
  readonly text: string
  readonly count: number
  /** The last call with this error. */
  readonly row: number
}

/** Maximum number of distinct error texts. */
const mostErrors = 20
const shortestBinUs = 125

export function toolUseOf(lane: LaneIndex, name: string, shown: Shown): ToolUse {
  const { entries } = lane.fold
  const answered: { readonly row: number; readonly latencyUs: number }[] = []
  const errors = new Map<string, { count: number; row: number }>()
  let first = -1
  let failed = -1
  let unanswered = -1
  let calls = 0
  let errorCount = 0
  for (let row = 0; row < entries.length; row += 1) {
    if (entries.kind(row) !== 'request' || lane.word(lane.subject(row)) !== name) continue
    if (lane.word(lane.method(row)) !== 'tools/call') continue
    const answer = entries.peer(row)
    if (!shown.exchange(row)) continue
    calls += 1
    if (first < 0) first = row
    if (answer < 0) {
      unanswered = row
      continue
    }
    if (isErrorAnswer(entries, answer)) {
      failed = row
      errorCount += 1
      const text = entries.kind(answer) === 'error' ? lane.word(lane.note(answer)) : 'tool error'
      const known = errors.get(text)
      if (known) Object.assign(known, { count: known.count + 1, row })
      else if (errors.size < mostErrors) errors.set(text, { count: 1, row })
    }
    const latencyUs = entries.latencyUs(answer)
    if (latencyUs !== undefined) answered.push({ row, latencyUs })
  }
  const sorted = answered.toSorted((a, b) => a.latencyUs - b.latencyUs)
  const wanted = [
    ['first', first],
    ['median', sorted[Math.floor((sorted.length - 1) / 2)]?.row ?? -1],
    ['slowest', sorted.at(-1)?.row ?? -1],
    ['failed', failed],
    ['unanswered', unanswered],
  ] as const
  const seen = new Set([-1])
  const examples = wanted.flatMap(([why, row]): Example[] => {
    if (seen.has(row)) return []
    seen.add(row)
    const answer = entries.peer(row)
    const latencyUs = answer < 0 ? undefined : entries.latencyUs(answer)
    return [{ row: lane.globalOf(row), why, ...(latencyUs !== undefined && { latencyUs }) }]
  })
  return {
    calls,
    examples,
    errorCount,
    bins: binsOf(sorted.map(({ latencyUs }) => latencyUs)),
    errors: [...errors]
      .map(([text, { count, row }]) => ({ text, count, row: lane.globalOf(row) }))
      .toSorted((a, b) => b.count - a.count),
  }
}

/** @param sorted ascending */
function binsOf(sorted: readonly number[]): Bin[] {
  const numberOf = (us: number): number => Math.max(0, Math.floor(Math.log2(us / shortestBinUs)))
  const counts: (number | undefined)[] = []
  for (const us of sorted) counts[numberOf(us)] = (counts[numberOf(us)] ?? 0) + 1
  const first = counts.findIndex((count) => count !== undefined)
  return first < 0
    ? []
    : Array.from(counts.slice(first), (count = 0, i) => ({ fromUs: shortestBinUs * 2 ** (first + i), count }))
}
