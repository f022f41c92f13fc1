import { isBad } from './exchange.js'
import { table, version } from './state.js'

/** Problems in a lane. */
interface Troubles {
  errors: number
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

const none = (): Troubles => ({ errors: 0, again: 0, firstAgain: -1, lost: 0, firstLost: -1 })

export function troublesOf(lane: number | 'all'): Troubles {
  count()
  if (lane !== 'all') return counted.lanes[lane] ?? none()
  const sum = none()
  for (const one of counted.lanes) {
    if (!one) continue
    sum.errors += one.errors
    sum.again += one.again
    sum.lost += one.lost
    if (sum.firstAgain < 0) sum.firstAgain = one.firstAgain
    if (sum.firstLost < 0) sum.firstLost = one.firstLost
  }
  return sum
}

function count(): void {
  const now = version.value
  if (counted.version === now) return
  // Counted rows stay valid, except for a few held ones.
  const lanes = counted.lanes.map((one) => one && { ...one })
  for (let row = counted.length; row < table.length; row += 1) {
    const kind = table.kind(row)
    if (kind !== 'error' && kind !== 'result' && kind !== 'request' && kind !== 'gap') continue
    const at = table.lane(row)
    const lane = (lanes[at] ??= none())
    if (kind === 'gap') {
      lane.lost += 1
      if (lane.firstLost < 0) lane.firstLost = row
    } else if (kind === 'request') {
      if (table.method(row) !== 'tools/call' || !failed.delete(at * mostWords + table.subjectWord(row)))
        continue
      lane.again += 1
      if (lane.firstAgain < 0) lane.firstAgain = row
    } else if (isBad(row)) {
      lane.errors += 1
      const request = table.peer(row)
      if (request >= 0 && table.method(request) === 'tools/call')
        failed.add(at * mostWords + table.subjectWord(request))
    }
  }
  counted = { version: now, length: table.length, lanes }
}
