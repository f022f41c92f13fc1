import { isErrorAnswer, isUnanswered } from '../../src/model/index.js'
import { isUnmatched, statusOf } from './exchange.js'
import { lanes, table, version } from './state.js'

/** Problems in a lane. */
export interface Troubles {
  /** JSON-RPC errors and results of failed tools. */
  errors: number
  /** HTTP exchanges without a message that failed. */
  http: number
  /** Late, orphaned, duplicate and undelivered messages. */
  unmatched: number
  /** Messages that are not JSON-RPC, and lines that are not JSON. */
  invalid: number
  /** Calls that follow a failed call of the same tool. */
  again: number
  firstAgain: number
  /** Number of gaps in the recording. */
  lost: number
  firstLost: number
}

/** Counts by lane, cached by number of rows. */
let counted: { readonly version: number; readonly length: number; readonly lanes: readonly Troubles[] } = {
  version: -1,
  length: 0,
  lanes: [],
}
/** Tools, by lane and word, with a failure in their last call. */
const failed = new Set<number>()
const mostWords = 1 << 24
/** Requests that had no response when they were counted. */
let open: number[] = []
/** Responses that may fail later: they were held, or created a task. */
let undecided: number[] = []

const none = (): Troubles => ({
  errors: 0,
  http: 0,
  unmatched: 0,
  invalid: 0,
  again: 0,
  firstAgain: -1,
  lost: 0,
  firstLost: -1,
})

export function troublesOf(lane: number | 'all'): Troubles {
  count()
  if (lane !== 'all') return counted.lanes[lane] ?? none()
  const sum = none()
  for (const one of counted.lanes) {
    if (!one) continue
    for (const key of ['errors', 'http', 'unmatched', 'invalid', 'again', 'lost'] as const)
      sum[key] += one[key]
    for (const key of ['firstAgain', 'firstLost'] as const) if (sum[key] < 0) sum[key] = one[key]
  }
  return sum
}

/** Requests without a response in recordings that have ended: those of a live capture may still get one. */
export function unansweredIn(lane: number | 'all'): number {
  count()
  open = open.filter((row) => isUnanswered(table, row))
  const all = lanes.value
  return open.filter((row) => {
    const of = table.lane(row)
    return (lane === 'all' || of === lane) && (all[of]?.state === 'done' || all[of]?.state === 'failed')
  }).length
}

function count(): void {
  const now = version.value
  if (counted.version === now) return
  // Counted rows stay valid, except for undecided ones.
  const all = counted.lanes.map((one) => one && { ...one })
  const before = undecided
  undecided = []
  for (const row of before) countAnswer(row, (all[table.lane(row)] ??= none()))
  for (let row = counted.length; row < table.length; row += 1) {
    const lane = (all[table.lane(row)] ??= none())
    if (isUnmatched(row)) lane.unmatched += 1
    switch (table.kind(row)) {
      case 'gap':
        lane.lost += 1
        if (lane.firstLost < 0) lane.firstLost = row
        break
      case 'request':
        countRequest(row, lane)
        break
      case 'result':
      case 'error':
        countAnswer(row, lane)
        break
      case 'http':
        if (statusOf(row) === 'error') lane.http += 1
        break
      case 'invalid':
      case 'noise':
        lane.invalid += 1
        break
      default:
    }
  }
  counted = { version: now, length: table.length, lanes: all }
}

function countRequest(row: number, lane: Troubles): void {
  if (isUnanswered(table, row)) open.push(row)
  if (table.method(row) !== 'tools/call' || !failed.delete(toolOf(row))) return
  lane.again += 1
  if (lane.firstAgain < 0) lane.firstAgain = row
}

function countAnswer(row: number, lane: Troubles): void {
  if (!isErrorAnswer(table, row)) {
    // A completed task fails if its result is an error.
    if (table.has(row, 'waiting') || table.has(row, 'taskOpen') || table.taskUs(row) > 0) undecided.push(row)
    return
  }
  lane.errors += 1
  const request = table.peer(row)
  if (request >= 0 && table.method(request) === 'tools/call') failed.add(toolOf(request))
}

const toolOf = (request: number): number => table.lane(request) * mostWords + table.subjectWord(request)
