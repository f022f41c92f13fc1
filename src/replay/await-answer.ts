import { taskPoll } from '../compare/index.js'
import type { ClientFrame } from '../link/index.js'
import { withId } from './answer-question.js'
import { clientFrame } from './client-frame.js'
import type { LiveConnection, NoAnswer, Pending } from './live-connection.js'
import type { PlannedMessage } from './planned-frames.js'
import { pollMsOf, worksStill } from './poll-task.js'
import type { ReadAhead } from './read-ahead.js'
import type { Waiting } from './waiting.js'

/** What came of a request. */
export type Answer = { readonly text: string } | NoAnswer | 'timed out'

export interface AnswerContext {
  readonly live: LiveConnection
  readonly timeoutMs: number
  readonly waiting: Waiting
  readonly isOver: () => boolean
  readonly ahead: Pick<ReadAhead, 'said'>
  /** Takes work that goes on. */
  readonly react: (work: Promise<void>) => void
}

export interface AwaitedRequest {
  readonly message: PlannedMessage
  /** Of the message. */
  readonly id: string
  readonly frame: ClientFrame
  /** Of the message, as it is sent. */
  readonly text: string
}

/**
 * Waits for the answer to a request that is about to be sent. A task that was asked for and has not come as far as the
 * recorded one is asked for again, as its client would, until it has or the time is over.
 *
 * @param settle called once
 */
export function awaitAnswer(
  { live, timeoutMs, waiting, isOver, ahead, react }: AnswerContext,
  { message, id, frame, text }: AwaitedRequest,
  settle: (answer: Answer) => void,
): NodeJS.Timeout {
  const { method, seq, peer } = message
  /** That of the message, or of the last poll. */
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
