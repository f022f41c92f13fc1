import type { Finished, OrderedOutcomes } from './ordered-outcomes.js'
import type { Plan } from './plan.js'
import type { PlannedMessage } from './planned-frames.js'

/** Messages of the plan without an outcome, in order. */
export async function* unfinishedIn(
  plan: Plan,
  outcomes: Pick<OrderedOutcomes, 'isDone'>,
): AsyncGenerator<PlannedMessage, void, undefined> {
  for (const frame of plan.frames) {
    const { firstIndex, count } = frame
    let isDone = true
    for (let index = firstIndex; index < firstIndex + count; index += 1) isDone &&= outcomes.isDone({ index })
    if (isDone) continue
    for (const message of plan.frames.messagesOf(frame, await plan.read(frame.locator)))
      if (!outcomes.isDone(message)) yield message
  }
}

/** Outcome of a message that is no longer awaited or was never sent. @param stopped why the run ended early */
export function givenUp(
  message: PlannedMessage,
  original: string,
  isSent: boolean,
  stopped: string | undefined,
): Finished {
  if (!isSent) {
    const why =
      stopped ?? (message.kind === 'answer' ? 'the server did not send the request' : 'no reason known')
    return { status: 'not sent', original, error: `Not sent: ${why}` }
  }
  if (stopped === undefined) return { status: 'sent', original, sent: original }
  return { status: 'interrupted', original, sent: original, error: `No response: ${stopped}` }
}
