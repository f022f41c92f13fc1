import { isAnswer, isFrameRecord, isMessageKind, type Envelope } from '../../src/model/index.js'
import { rowContent } from '../../src/render/index.js'
import type { LaneIndex } from './lane.js'
import type { Detail, Story, StoryStep } from './protocol.js'

/** Maximum number of rows searched after the request. */
const farthest = 400_000
/** Rows searched before it, for other open requests. */
const before = 2_000
/** Rows searched for a call without an end in the recording. */
const openEnd = 2_000
/** Limits of one story: steps, and bytes of their lines. */
const mostSteps = 400
const mostBytes = 8 << 20

/** A row of a call, before its line is read. */
interface Found {
  readonly row: number
  /** The response, for a request other than the call itself; -1 for none. */
  readonly answer: number
  /** The response is a step of its own. */
  readonly isApart: boolean
  /** `certain`: linked; `alone`: no other request was open; `loose`: another one was. */
  readonly tie: 'certain' | 'alone' | 'loose'
}

/**
 * All rows that belong to a request, in the order of the recording.
 *
 * @param head row in the lane
 * @param read the line of a row of the lane
 * @param share how many times the usual number of steps
 */
export async function storyOf(
  lane: LaneIndex,
  head: number,
  read: (row: number) => Promise<Detail>,
  share = 1,
): Promise<Story> {
  const { entries } = lane.fold
  const own = exchangeOf(await read(head))
  const receipt = entries.peer(head) < 0 ? undefined : taskOf(await read(entries.peer(head)))
  const task = receipt?.createsTask ? receipt.taskId : undefined
  const steps: StoryStep[] = []
  let bytes = 0
  let left = 0
  for (const found of rowsOf(lane, head)) {
    const { row, answer } = found
    if (steps.length >= mostSteps * share || bytes > mostBytes * share) {
      left += 1
      continue
    }
    const detail = await read(row)
    const exchange = exchangeOf(detail)
    const isSame = exchange !== undefined && exchange === own
    // A task may be reported before the response that creates it.
    const about = found.tie === 'certain' ? undefined : taskOf(detail)?.taskId
    if (about !== undefined && about !== task) continue
    const tie = about === undefined ? found.tie : 'certain'
    if (tie !== 'certain' && !isSame && isOfOther(lane, exchange, row)) continue
    bytes += detail.sizeBytes
    const dropped = lane.droppedOf(row)
    const step = {
      ...(dropped && { dropped }),
      row: lane.globalOf(row),
      kind: kindOf(lane, head, row),
      at: lane.at(row),
      text: contentOf(lane, row, detail),
      detail,
      loose: tie === 'loose' && !isSame,
    }
    if (answer < 0) steps.push(step)
    else if (found.isApart) steps.push({ ...step, answerAt: lane.at(answer) })
    else {
      const reply = await read(answer)
      bytes += reply.sizeBytes
      const posted = entries.has(answer, 'fromServer') ? undefined : exchangeOf(reply)
      const response = posted === undefined ? -1 : lane.responseOf(posted, answer)
      steps.push({
        ...step,
        answer: reply,
        ...(response >= 0 && { accepted: { at: lane.at(response), detail: await read(response) } }),
        answerAt: lane.at(answer),
        answerText: contentOf(lane, answer, reply),
      })
    }
  }
  const answer = entries.peer(head)
  const isTask = task !== undefined
  const end = isTask
    ? taskEndOf(lane, answer)
    : (steps.findLast(({ kind }) => kind === 'answer')?.at ?? (answer < 0 ? undefined : lane.at(answer)))
  return { steps, left, ...(end !== undefined && { end }), isTask }
}

function rowsOf(lane: LaneIndex, head: number): Found[] {
  const { entries } = lane.fold
  const side = entries.direction(head)
  const last = Math.min(entries.length, head + farthest)
  const conversation = lane.conversation(head)
  const related = relatedRows(lane, head, last)
  const outcome = outcomeOf(lane, head, related)
  const isOpen = entries.peer(head) < 0 && related.size < 2
  const settled = settledAt(lane, head, related, outcome)
  const end = Math.min(last, isOpen ? head + openEnd : Math.max(...related) + 1)
  /** Other requests of the same side: unlinked rows may belong to them. */
  const open = new Set<number>()
  /** Calls whose task is open, by the row that ends it. */
  const tasks = new Map<number, number>()
  const found: Found[] = []
  for (let row = Math.max(0, head - before); row < end; row += 1) {
    const kind = lane.isNote(row) ? 'note' : entries.kind(row)
    open.delete(tasks.get(row) ?? -1)
    const isPeers = kind === 'noise' || (kind !== 'note' && isMessageKind(kind))
    if (related.has(row)) {
      const answer = replyOf(lane, head, row)
      if (!isReply(lane, head, row, outcome))
        found.push({ row, answer, isApart: answer >= 0 && answer === outcome, tie: 'certain' })
      continue
    }
    if (isPeers && lane.conversation(row) !== conversation) continue
    if (kind === 'request' && entries.direction(row) === side) {
      if (!entries.has(row, 'stream')) open.add(row)
    } else if (kind === 'result' || kind === 'error') {
      const end = entries.taskEnd(row)
      if (end > row) tasks.set(end, entries.peer(row))
      else if (!entries.has(row, 'taskOpen')) open.delete(entries.peer(row))
    } else if (
      row > head &&
      row < settled &&
      kind !== 'note' &&
      (!isPeers || entries.direction(row) !== side)
    ) {
      if (entries.linked(row) < 0)
        found.push({
          row,
          answer: replyOf(lane, head, row),
          isApart: false,
          tie: open.size > 0 ? 'loose' : 'alone',
        })
    }
  }
  return found
}

/** Rows linked to the call: itself, responses, progress, cancellation, task requests and responses, notes. */
function relatedRows({ fold: { entries } }: LaneIndex, head: number, last: number): Set<number> {
  const related = new Set([head])
  for (let row = head + 1; row < last; row += 1) {
    if (related.has(entries.linked(row)) || related.has(entries.peer(row))) related.add(row)
  }
  return related
}

/** A response shown with its request, which is neither the call itself nor one of its rounds. */
function isReply(lane: LaneIndex, head: number, row: number, outcome: number): boolean {
  const { entries } = lane.fold
  if (!isResponse(lane, row)) return false
  const request = entries.peer(row)
  if (request < 0 || entries.peer(request) !== row || row === outcome) return false
  return replyOf(lane, head, request) === row
}

function isResponse({ fold: { entries } }: LaneIndex, row: number): boolean {
  return entries.kind(row) === 'result' || entries.kind(row) === 'error'
}

function asksForResult(lane: LaneIndex, row: number): boolean {
  return lane.fold.entries.kind(row) === 'request' && lane.word(lane.method(row)) === 'tasks/result'
}

/** The response with the outcome of the call's task, which is a step of its own; -1 for none. */
function outcomeOf(lane: LaneIndex, head: number, related: ReadonlySet<number>): number {
  const { entries } = lane.fold
  const asks = [...related].findLast((row) => asksForResult(lane, row) && entries.peer(row) >= 0)
  if (asks !== undefined) return entries.peer(asks)
  const receipt = entries.peer(head)
  return receipt < 0 ? -1 : entries.taskEnd(receipt)
}

/** The row that ends the call, after which unlinked rows are not of the call; Infinity without one. */
function settledAt(lane: LaneIndex, head: number, related: ReadonlySet<number>, outcome: number): number {
  const { entries } = lane.fold
  if (outcome >= 0) return outcome
  const receipt = entries.peer(head)
  if (receipt < 0 || entries.has(receipt, 'taskOpen')) return Infinity
  const isOfPeer = (row: number): boolean => entries.direction(row) !== entries.direction(head)
  return [...related].findLast((row) => isOfPeer(row) && isResponse(lane, row)) ?? Infinity
}

/** Rows searched for the result of a task that has ended. */
const resultWithin = 2_000

/**
 * The response with the result of the task that a response created; without one, the row that reported the end.
 *
 * @returns -1 for other rows, and for a task without an end
 */
export function taskResultOf(lane: LaneIndex, receipt: number): number {
  const { entries } = lane.fold
  const end = entries.taskEnd(receipt)
  if (end < 0) return -1
  const head = entries.peer(receipt)
  const last = Math.min(entries.length, end + resultWithin)
  for (let row = end; row < last; row += 1) {
    const request = isResponse(lane, row) ? entries.peer(row) : -1
    if (request >= 0 && entries.linked(request) === head && asksForResult(lane, request)) return row
  }
  return end
}

/** The row shown together with a request; -1 for none. */
function replyOf(lane: LaneIndex, head: number, row: number): number {
  const kind = kindOf(lane, head, row)
  return kind === 'asked' || kind === 'poll' ? lane.fold.entries.peer(row) : -1
}

/** The row is in an HTTP exchange of another message. */
function isOfOther(lane: LaneIndex, exchange: number | undefined, row: number): boolean {
  if (exchange === undefined) return false
  const request = lane.requestOf(exchange, row)
  return request >= 0 && lane.fold.entries.kind(request) === 'request'
}

function exchangeOf({ record }: Detail): number | undefined {
  if (record.type === 'http') return record.exchange
  return isFrameRecord(record) ? record.http?.exchange : undefined
}

function taskOf({ record, part }: Detail): Envelope | undefined {
  const envelope = isFrameRecord(record) ? record.parts[part]?.envelope : undefined
  return envelope?.taskId === undefined ? undefined : envelope
}

/** The content column of a row. */
export function contentOf(lane: LaneIndex, row: number, { record, part }: Detail): string {
  const message = isFrameRecord(record) ? record.parts[part] : undefined
  if (!message) return ''
  const request = isAnswer(message.envelope) ? lane.fold.entries.peer(row) : -1
  const method = request < 0 ? '' : lane.word(lane.method(request))
  return rowContent(record, message, message.envelope.kind, { method })
}

function kindOf(lane: LaneIndex, head: number, row: number): StoryStep['kind'] {
  const { entries } = lane.fold
  if (lane.isNote(row)) return 'note'
  const kind = entries.kind(row)
  const method = lane.word(lane.method(row))
  if (row === head) return 'request'
  if (kind === 'result' || kind === 'error') return 'answer'
  if (kind === 'request') {
    if (method.startsWith('tasks/')) return 'poll'
    return entries.direction(row) === entries.direction(head) ? 'round' : 'asked'
  }
  if (kind !== 'notification') return kind === 'invalid' ? 'noise' : kind
  if (method === 'notifications/progress') return 'progress'
  if (method === 'notifications/message') return 'log'
  if (method === 'notifications/cancelled') return 'cancel'
  return 'notification'
}

function taskEndOf(lane: LaneIndex, answer: number): number | undefined {
  const us = answer < 0 ? Infinity : lane.fold.entries.taskUs(answer)
  return us === Infinity ? undefined : lane.at(answer) + us
}
