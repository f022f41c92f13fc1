import { isAnsweredHere, isFailedAnswer, isForWiretape, isUnanswered } from '../../src/model/index.js'
import { factWords } from '../../src/render/index.js'
import { lanes, table } from './state.js'

/** The row that represents this one when exchanges are grouped; itself if it belongs to none. */
export function headOf(row: number): number {
  const kind = table.kind(row)
  if (kind === 'result' || kind === 'error') {
    const request = requestOf(row)
    return request >= 0 ? request : row
  }
  if (kind === 'notification') {
    const request = table.linked(row)
    return request >= 0 ? request : row
  }
  if ((kind === 'note' || kind === 'http') && table.linked(row) >= 0) return headOf(table.linked(row))
  return row
}

/** The request of a response, including held and dropped ones; -1 for none. */
export function requestOf(answer: number): number {
  const request = table.peer(answer)
  return request >= 0 ? request : table.linked(answer)
}

/** Rows searched for members of one exchange; later ones are shown separately in the list. */
const farthest = 400_000

/**
 * All members of a request's exchange in order, without the request: progress, cancellation, responses,
 * notes.
 */
export function membersOf(head: number): number[] {
  // Notes may come long after.
  const members = table.notes.filter((note) => note !== head && headOf(note) === head)
  if (table.kind(head) !== 'request' && !table.is(head, 'joined')) return members
  const lane = table.lane(head)
  const answer = table.peer(head)
  const last = Math.min(table.length, head + farthest)
  let seen = answer < 0
  for (let row = head + 1; row < last; row += 1) {
    if (table.lane(row) !== lane) continue
    if (headOf(row) === head && table.kind(row) !== 'note') members.push(row)
    if (row === answer) seen = true
    // Late responses and stray progress arrive soon, if at all.
    if (seen && row > Math.max(answer, head) + 2_000) break
  }
  if (answer >= last) members.push(answer)
  return members
}

/** Requests of the other side while only this request was open: sampling, elicitation, roots. */
export function askedMeanwhile(head: number): number[] {
  const answer = table.peer(head)
  if (table.kind(head) !== 'request' || answer < 0 || answer - head > 5_000) return []
  const asked: number[] = []
  for (let row = head + 1; row < answer; row += 1) {
    if (table.lane(row) !== table.lane(head) || table.kind(row) !== 'request') continue
    // Another request of the same side was open, so the link is uncertain.
    if (table.has(row, 'fromServer') === table.has(head, 'fromServer')) return []
    asked.push(row)
  }
  return asked
}

/** Whether the row can be unfolded. */
export function hasMembers(row: number): boolean {
  return (table.kind(row) === 'request' && table.peer(row) >= 0) || table.is(row, 'joined') || isNoted(row)
}

/** Whether there is a note about the row, or about its response. */
export function isNoted(row: number): boolean {
  if (table.is(row, 'noted')) return true
  const answer = table.kind(row) === 'request' ? table.peer(row) : -1
  return answer >= 0 && table.is(answer, 'noted')
}

/** Microseconds for which the server waited for its client before its response; not part of the latency. */
export function waitedOf(row: number): number {
  return table.waitedUs(table.kind(row) === 'request' ? table.peer(row) : row)
}

/**
 * Microseconds from request to response, or to the end of the task that it created, minus the time for which the
 * request was held or the server waited for its client. Undefined without a response or an end, and if the response is
 * not from the other side.
 */
export function latencyOf(row: number): number | undefined {
  const kind = table.kind(row)
  if (kind !== 'request' && kind !== 'result' && kind !== 'error') return undefined
  const peer = table.peer(row)
  if (peer < 0 || table.at(row) === 0) return undefined
  const [request, answer] = kind === 'request' ? [row, peer] : [peer, row]
  if (table.has(answer, 'injected')) return undefined
  const tookUs = Math.abs(table.at(answer) - table.at(request)) + table.taskUs(answer)
  return tookUs === Infinity ? undefined : Math.max(0, tookUs - table.heldUs(request) - waitedOf(row))
}

export type Status =
  | 'ok'
  | 'error'
  | 'tool-error'
  | 'waiting'
  | 'cancelled'
  | 'held'
  | 'dropped'
  /** The request, response or progress of an exchange between wiretape and the server alone. */
  | 'own'
  | 'bad'
  | 'none'

/** The status of an exchange or a single row. */
export function statusOf(row: number): Status {
  switch (table.kind(row)) {
    case 'request': {
      const answer = table.peer(row)
      if (answer >= 0) return statusOf(answer)
      const stopped = stoppedStatus(row) ?? stoppedStatus(table.heldAnswer(row))
      if (stopped) return stopped
      if (table.has(row, 'cancelled')) return 'cancelled'
      // The response may be in a part not read yet.
      if (lanes.peek()[table.lane(row)]?.state === 'reading') return 'none'
      return isUnanswered(table, row) ? 'waiting' : 'none'
    }
    case 'result':
    case 'error':
      if (isFailedAnswer(table, row)) return table.kind(row) === 'error' ? 'error' : 'tool-error'
      return stoppedStatus(row) ?? taskStatus(row)
    case 'invalid':
    case 'noise':
    case 'gap':
      return 'bad'
    case 'http':
      return /^[45]|no response/.test(table.note(row)) ? 'error' : 'none'
    default:
      return stoppedStatus(row) ?? 'none'
  }
}

/** Status of a response that has not failed: that of the task which it created, if any. */
function taskStatus(answer: number): 'ok' | 'waiting' | 'cancelled' | 'none' {
  if (table.has(answer, 'taskCancelled')) return 'cancelled'
  if (!table.has(answer, 'taskOpen')) return 'ok'
  // The end may be in a part not read yet.
  return lanes.peek()[table.lane(answer)]?.state === 'reading' ? 'none' : 'waiting'
}

/** Status of a message that was not forwarded. @param row -1 for none */
function stoppedStatus(row: number): 'dropped' | 'held' | 'own' | undefined {
  if (row < 0) return undefined
  if (isForWiretape(table, row)) return 'own'
  if (table.has(row, 'dropped')) return 'dropped'
  return table.has(row, 'waiting') ? 'held' : undefined
}

/** wiretape's action instead of a peer's, in words; else undefined. @param author of the message, if known */
export function oursOf(row: number, author = ''): string | undefined {
  const isAnswer = isAnsweredHere(table, row)
  if (!isAnswer && !table.has(row, 'injected')) return undefined
  if (author !== '') return `${isAnswer ? 'answered' : 'sent'} by ${author}`
  return factWords[isAnswer ? 'answered-here' : 'injected'].text
}

export function isBad(row: number): boolean {
  const status = statusOf(row)
  const answer = table.kind(row) === 'request' ? table.peer(row) : row
  const isFailure = (status === 'error' || status === 'tool-error') && !isRepeated(answer)
  return isFailure || status === 'bad' || isUnmatched(row)
}

/** The failure of a task, which counts at the call that created it. */
function isRepeated(answer: number): boolean {
  return answer >= 0 && table.has(answer, 'repeated')
}

/** Late, orphaned and undelivered messages, and those with the id of another. */
export function isUnmatched(row: number): boolean {
  return (
    table.has(row, 'late') ||
    table.has(row, 'orphan') ||
    table.has(row, 'undelivered') ||
    table.has(row, 'duplicate')
  )
}
