import { isAnsweredHere, isUnanswered } from '../../src/model/index.js'
import { factWords } from '../../src/render/index.js'
import { lanes, table } from './state.js'

/** The row under which a row is shown when exchanges are one row; itself when it stands alone. */
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

/** The request of an answer, also of one that is held or was dropped; -1 for none. */
export function requestOf(answer: number): number {
  const request = table.peer(answer)
  return request >= 0 ? request : table.linked(answer)
}

/** Rows looked at for what belongs to one exchange; what comes later is found in the list. */
const farthest = 400_000

/**
 * Everything that belongs to the exchange of a request, in order, without the request: progress, cancellation,
 * answers, and what else happened on the same lane meanwhile when `meanwhile` is set.
 */
export function membersOf(head: number): number[] {
  // They may come long after.
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
    // Late answers and stray progress come soon, if at all.
    if (seen && row > Math.max(answer, head) + 2_000) break
  }
  if (answer >= last) members.push(answer)
  return members
}

/** Requests of the other side while this one was open and no other was: sampling, elicitation, roots. */
export function askedMeanwhile(head: number): number[] {
  const answer = table.peer(head)
  if (table.kind(head) !== 'request' || answer < 0 || answer - head > 5_000) return []
  const asked: number[] = []
  for (let row = head + 1; row < answer; row += 1) {
    if (table.lane(row) !== table.lane(head) || table.kind(row) !== 'request') continue
    // Another request of the same side was open: whose it is cannot be told.
    if (table.has(row, 'fromServer') === table.has(head, 'fromServer')) return []
    asked.push(row)
  }
  return asked
}

/** Whether there is something to unfold. */
export function hasMembers(row: number): boolean {
  return (table.kind(row) === 'request' && table.peer(row) >= 0) || table.is(row, 'joined') || isNoted(row)
}

/** There is a note about it, or about its answer. */
export function isNoted(row: number): boolean {
  if (table.is(row, 'noted')) return true
  const answer = table.kind(row) === 'request' ? table.peer(row) : -1
  return answer >= 0 && table.is(answer, 'noted')
}

/** For how long the server waited for its client before it answered, in microseconds; not in the latency. */
export function waitedOf(row: number): number {
  return table.waitedUs(table.kind(row) === 'request' ? table.peer(row) : row)
}

/**
 * Microseconds from request to answer, without the time for which the request was held or the server waited for its client; undefined
 * while there is none, and where the answer is not that of the other side.
 */
export function latencyOf(row: number): number | undefined {
  const kind = table.kind(row)
  if (kind !== 'request' && kind !== 'result' && kind !== 'error') return undefined
  const peer = table.peer(row)
  if (peer < 0 || table.at(row) === 0) return undefined
  if (table.has(kind === 'request' ? peer : row, 'injected')) return undefined
  const held = table.heldUs(kind === 'request' ? row : peer)
  return Math.max(0, Math.abs(table.at(peer) - table.at(row)) - held - waitedOf(row))
}

export type Status =
  | 'ok'
  | 'error'
  | 'tool-error'
  | 'waiting'
  | 'cancelled'
  | 'held'
  | 'dropped'
  | 'bad'
  | 'none'

/** How it went, of an exchange or of a single row. */
export function statusOf(row: number): Status {
  switch (table.kind(row)) {
    case 'request': {
      const answer = table.peer(row)
      if (answer >= 0) return statusOf(answer)
      const stopped = stoppedStatus(row) ?? stoppedStatus(table.heldAnswer(row))
      if (stopped) return stopped
      if (table.has(row, 'cancelled')) return 'cancelled'
      // Its answer may stand in what is not read yet.
      if (lanes.peek()[table.lane(row)]?.state === 'reading') return 'none'
      return isUnanswered(table, row) ? 'waiting' : 'none'
    }
    case 'result':
      if (stoppedStatus(row)) return stoppedStatus(row)!
      return table.has(row, 'toolError') ? 'tool-error' : 'ok'
    case 'error':
      return stoppedStatus(row) ?? 'error'
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

/** Of a message that did not go on. @param row -1 for none */
function stoppedStatus(row: number): 'dropped' | 'held' | undefined {
  if (row < 0) return undefined
  if (table.has(row, 'dropped')) return 'dropped'
  return table.has(row, 'waiting') ? 'held' : undefined
}

/** What wiretape did in the place of a peer, in words; undefined when a peer said it. @param author of the message, as far as known */
export function oursOf(row: number, author = ''): string | undefined {
  const isAnswer = isAnsweredHere(table, row)
  if (!isAnswer && !table.has(row, 'injected')) return undefined
  if (author !== '') return `${isAnswer ? 'answered' : 'sent'} by ${author}`
  return factWords[isAnswer ? 'answered-here' : 'injected'].text
}

export function isBad(row: number): boolean {
  const status = statusOf(row)
  return (
    status === 'error' ||
    status === 'tool-error' ||
    status === 'bad' ||
    table.has(row, 'late') ||
    table.has(row, 'orphan') ||
    table.has(row, 'undelivered') ||
    table.has(row, 'duplicate')
  )
}
