import type { Draft } from '../model/index.js'
import type { MessageOutcome } from './outcome.js'
import type { PlannedMessage } from './planned-frames.js'

/** The outcome of a finished message. */
export type Finished = Omit<MessageOutcome, 'message' | 'replaced' | 'recorded' | 'comparison'> &
  Partial<Pick<MessageOutcome, 'replaced'>>

/** The recorded response of a request, and the comparison. */
export type Compared = Pick<MessageOutcome, 'recorded' | 'comparison'>

/** Passes on outcomes of messages in the order of the recording. */
export interface OrderedOutcomes {
  /** A request was sent and awaits its response. */
  began(message: PlannedMessage): void
  /** The request waits no longer; its outcome follows later. */
  answered(message: PlannedMessage): void
  /** Only the first call counts. */
  finish(message: PlannedMessage, finished: Finished, compared?: Compared): void
  /** Requests that await their responses. */
  waiting(): readonly PlannedMessage[]
  isDone(message: Pick<PlannedMessage, 'index'>): boolean
}

/** @param messages number of messages */
export function orderedOutcomes(messages: number, take: (outcome: MessageOutcome) => void): OrderedOutcomes {
  const waiting = new Map<number, PlannedMessage>()
  const done = new Uint8Array(messages)
  /** Outcomes held back until those of earlier messages are known. */
  const held = new Map<number, MessageOutcome>()
  let next = 0

  function finish(message: PlannedMessage, finished: Finished, compared: Compared = {}): void {
    waiting.delete(message.index)
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
    began: (message) => void waiting.set(message.index, message),
    answered: ({ index }) => void waiting.delete(index),
    finish,
    waiting: () => [...waiting.values()],
    isDone: ({ index }) => done[index] === 1,
  }
}

/** Built member by member: in the engine, each spread creates a new object shape. */
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
