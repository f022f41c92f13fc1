import type { Draft } from '../model/index.js'
import type { MessageOutcome } from './outcome.js'
import type { Plan, PlannedMessage } from './plan.js'

/** What is known of a message when it is done with. */
export type Finished = Omit<MessageOutcome, 'message' | 'replaced' | 'recorded' | 'comparison'> &
  Partial<Pick<MessageOutcome, 'replaced'>>

/** A request and what was recorded. */
export type Compared = Pick<MessageOutcome, 'recorded' | 'comparison'>

/** Hands on what became of messages, in the order of the recording. */
export interface OrderedOutcomes {
  /** A request was sent and waits. */
  began(message: PlannedMessage): void
  /** It waits no longer; what became of it is told later. */
  answered(message: PlannedMessage): void
  /** The first time counts. */
  finish(message: PlannedMessage, finished: Finished, compared?: Compared): void
  /** As `finish`, for the message in a row, if it is one that is replayed. */
  finishRow(row: number, finished: Finished): void
  /** Requests that wait for their answers. */
  waiting(): ReadonlySet<PlannedMessage>
  /** Messages that are not done with, in order. */
  rest(): PlannedMessage[]
}

export function orderedOutcomes(plan: Plan, take: (outcome: MessageOutcome) => void): OrderedOutcomes {
  const messages = plan.frames.flatMap((frame) => frame.messages)
  const answers = new Map(
    messages.filter(({ kind }) => kind === 'answer').map((message) => [message.row, message]),
  )
  const waiting = new Set<PlannedMessage>()
  const done = new Uint8Array(messages.length)
  /** Outcomes that wait for those of earlier messages. */
  const held = new Map<number, MessageOutcome>()
  let next = 0

  function finish(message: PlannedMessage, finished: Finished, compared: Compared = {}): void {
    waiting.delete(message)
    if (done[message.index] === 1) return
    done[message.index] = 1
    held.set(message.index, outcomeOf(message, finished, compared))
    for (let outcome = held.get(next); outcome; outcome = held.get(next)) {
      held.delete(next)
      next += 1
      take(outcome)
    }
  }

  return {
    began: (message) => void waiting.add(message),
    answered: (message) => void waiting.delete(message),
    finish,
    finishRow(row, finished) {
      const message = answers.get(row)
      if (message) finish(message, finished)
    },
    waiting: () => waiting,
    rest: () => messages.filter(({ index }) => done[index] === 0),
  }
}

/** Member by member: what is spread gets a shape of its own in the engine, each time. */
function outcomeOf(message: PlannedMessage, finished: Finished, compared: Compared): MessageOutcome {
  const { status, original, sent, kept, response, error, durationUs, replaced = none } = finished
  const { recorded, comparison } = compared
  const outcome: Draft<MessageOutcome> = {
    message,
    status,
    original,
    replaced,
  }
  if (sent !== undefined) outcome.sent = sent
  if (kept !== undefined) outcome.kept = kept
  if (response !== undefined) outcome.response = response
  if (recorded !== undefined) outcome.recorded = recorded
  if (error !== undefined) outcome.error = error
  if (durationUs !== undefined) outcome.durationUs = durationUs
  if (comparison) outcome.comparison = comparison
  return outcome
}

const none: readonly string[] = []
