import type { MessageOutcome } from './outcome.js'
import type { Plan, PlannedMessage } from './plan.js'

/** What is known of a message when it is done with. */
export type Finished = Omit<MessageOutcome, 'message' | 'replaced'> &
  Partial<Pick<MessageOutcome, 'replaced'>>

/** Hands on what became of messages, in the order of the recording. */
export interface OrderedOutcomes {
  /** A request was sent and waits. */
  began(message: PlannedMessage): void
  /** The first time counts. */
  finish(message: PlannedMessage, finished: Finished): void
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

  function finish(message: PlannedMessage, finished: Finished): void {
    waiting.delete(message)
    if (done[message.index] === 1) return
    done[message.index] = 1
    held.set(message.index, { replaced: [], ...finished, message })
    for (let outcome = held.get(next); outcome; outcome = held.get(next)) {
      held.delete(next)
      next += 1
      take(outcome)
    }
  }

  return {
    began: (message) => void waiting.add(message),
    finish,
    finishRow(row, finished) {
      const message = answers.get(row)
      if (message) finish(message, finished)
    },
    waiting: () => waiting,
    rest: () => messages.filter(({ index }) => done[index] === 0),
  }
}
