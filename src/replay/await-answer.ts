import { pollMsOf, taskPoll } from '../compare/index.js'
import type { ClientFrame } from '../link/index.js'
import { withId } from './answer-question.js'
import { clientFrame } from './client-frame.js'
import type { LiveConnection, NoAnswer, Pending } from './live-connection.js'
import type { PlannedMessage } from './planned-frames.js'
import { worksStill } from './poll-task.js'
import type { ReadAhead } from './read-ahead.js'
import type { Waiting } from './waiting.js'

/** Outcome of a request. */
export type Answer = { readonly text: string } | NoAnswer | 'timed out'

export interface AnswerContext {
  readonly live: LiveConnection
  readonly timeoutMs: number
  readonly waiting: Waiting
  readonly isOver: () => boolean
  readonly ahead: Pick<ReadAhead, 'said'>
  /** Takes work that continues in the background. */
  readonly react: (work: Promise<void>) => void
}

export interface AwaitedRequest {
  readonly message: PlannedMessage
  /** Id of the message. */
  readonly id: string
  readonly frame: ClientFrame
  /** Text of the message as sent. */
  readonly text: string
}

/**
 * Waits for the response to a request that is about to be sent. While a polled task has not reached its recorded
 * state, it is polled again, as its client would do, until it has or time runs out.
 *
 * @param settle called once
 */
export function awaitAnswer(
  { live, timeoutMs, waiting, isOver, ahead, react }: AnswerContext,
  { message, id, frame, text }: AwaitedRequest,
  settle: (answer: Answer) => void,
): NodeJS.Timeout {
  const { method, seq, peer } = message
  /** Id of the message, or of the last poll. */
  let waitsFor = id
  let pending: Pending | undefined
  let polls = 0
  let isSettled = false
  const timer = setTimeout(() => {
    if (pending) live.forget(waitsFor, pending)
    finish('timed out')
  }, timeoutMs)

  function finish(answer: Answer): void {
    clearTimeout(timer)
    if (isSettled) return
    isSettled = true
    settle(answer)
  }

  async function pollAgain(answer: string): Promise<void> {
    const recorded = await ahead.said(peer)
    if (!worksStill(recorded.text, answer)) return finish({ text: withId(answer, id) })
    await waiting.until(isOver, pollMsOf(answer))
    if (isOver() || isSettled) return
    polls += 1
    waitsFor = JSON.stringify(`__poll_${seq}_${polls}__`)
    const again = withId(text, waitsFor)
    const sent = clientFrame(again, [again])
    expect(sent)
    await live.send(sent)
  }

  function expect(sent: ClientFrame): void {
    pending = {
      frame: sent,
      settle(result) {
        if (method === taskPoll && peer >= 0 && 'text' in result) react(pollAgain(result.text))
        else finish(result)
      },
    }
    live.expect(waitsFor, pending)
  }

  expect(frame)
  return timer
}
