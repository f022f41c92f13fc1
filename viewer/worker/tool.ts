import { isErrorAnswer, isUnanswered } from '../../src/model/index.js'
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
  /** A JSON-RPC error's code and message, or the first line of a failed tool's text. */
  readonly text: string
  readonly count: number
  /** The last calls with this error, in order. */
  readonly rows: readonly number[]
}

/** Maximum number of distinct error texts, and of calls listed for each. */
const mostErrors = 20
const mostRows = 5
/** Maximum number of errors that are read; the last ones are. */
const mostRead = 500
const shortestBinUs = 125

/** @param contentsOf the content of responses to `tools/call`, as in the list, by row in the lane */
export async function toolUseOf(
  lane: LaneIndex,
  name: string,
  shown: Shown,
  contentsOf: (rows: readonly number[]) => Promise<readonly string[]>,
): Promise<ToolUse> {
  const { entries } = lane.fold
  const answered: { readonly row: number; readonly latencyUs: number }[] = []
  const failures: number[] = []
  let first = -1
  let unanswered = -1
  let calls = 0
  for (let row = 0; row < entries.length; row += 1) {
    if (entries.kind(row) !== 'request' || lane.word(lane.subject(row)) !== name) continue
    if (lane.word(lane.method(row)) !== 'tools/call') continue
    const answer = entries.peer(row)
    if (!shown.exchange(row)) continue
    calls += 1
    if (first < 0) first = row
    if (isUnanswered(entries, row)) unanswered = row
    if (answer < 0) continue
    if (isErrorAnswer(entries, answer)) failures.push(row)
    const latencyUs = entries.latencyUs(answer)
    if (latencyUs !== undefined) answered.push({ row, latencyUs })
  }
  const sorted = answered.toSorted((a, b) => a.latencyUs - b.latencyUs)
  const wanted = [
    ['first', first],
    ['median', sorted[Math.floor((sorted.length - 1) / 2)]?.row ?? -1],
    ['slowest', sorted.at(-1)?.row ?? -1],
    ['failed', failures.at(-1) ?? -1],
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
    errorCount: failures.length,
    bins: binsOf(sorted.map(({ latencyUs }) => latencyUs)),
    errors: await errorsOf(lane, failures.slice(-mostRead), contentsOf),
  }
}

/** @param calls failed calls */
async function errorsOf(
  lane: LaneIndex,
  calls: readonly number[],
  contentsOf: (rows: readonly number[]) => Promise<readonly string[]>,
): Promise<ToolError[]> {
  const { entries } = lane.fold
  // The message that reports the end of a task has the reason.
  const answers = calls.map((row) => {
    const answer = entries.peer(row)
    return entries.has(answer, 'taskFailed') ? entries.taskEnd(answer) : answer
  })
  const failedTools = answers.filter((answer) => entries.kind(answer) !== 'error')
  const contents = await contentsOf(failedTools)
  const texts = new Map(failedTools.map((answer, i) => [answer, contents[i] || 'no text']))
  const errors = new Map<string, { count: number; rows: number[] }>()
  for (const [i, row] of calls.entries()) {
    const text = texts.get(answers[i]!) ?? lane.word(lane.note(answers[i]!))
    const known = errors.get(text) ?? { count: 0, rows: [] }
    if (known.count === 0 && errors.size >= mostErrors) continue
    known.count += 1
    known.rows = [...known.rows.slice(1 - mostRows), lane.globalOf(row)]
    errors.set(text, known)
  }
  return [...errors]
    .map(([text, { count, rows }]) => ({ text, count, rows }))
    .toSorted((a, b) => b.count - a.count)
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
