import type { QuestionPicker } from './answer-question.js'
import type { OrderedOutcomes } from './ordered-outcomes.js'
import type { Plan } from './plan.js'
import type { PlannedFrame, PlannedMessage } from './planned-frames.js'
import type { RunOptions } from './run-options.js'
import type { LiveConnection } from './live-connection.js'
import type { NoticePicker } from './notice-picker.js'
import type { Waiting } from './waiting.js'

/** Decides when the client of a recording sends each frame. */
export interface Schedule {
  /** Resolves when everything that the recorded client had waited for is here, or will not come. */
  untilTimeFor(
    frame: PlannedFrame,
    messages: readonly PlannedMessage[],
    connection: ScheduledConnection,
  ): Promise<void>
  sent(frame: PlannedFrame): void
  /** The recorded response in this row was sent to a request of the server. */
  answered(row: number): void
}

export interface ScheduledConnection {
  readonly live: LiveConnection
  readonly picker: QuestionPicker
  readonly notices: NoticePicker
}

export interface ScheduleContext {
  readonly plan: Plan
  readonly options: RunOptions
  readonly outcomes: OrderedOutcomes
  readonly waiting: Waiting
  readonly isOver: () => boolean
}

/** Longest time for a server to process a response of the client; never more than it had when recorded. */
const mostRestMs = 250

export function createSchedule({ plan, options, outcomes, waiting, isOver }: ScheduleContext): Schedule {
  const { timeoutMs, concurrency, speed } = options
  const { entries } = plan.index
  let lastSent = { us: plan.frames.at(0)!.us, atMs: performance.now() }
  /** The client's last response to a request of the server: time in the recording and now. */
  let lastAnswered: { readonly us: number; readonly atMs: number } | undefined

  /** Call only if there is something to wait for: each wait costs a turn. */
  async function until(test: () => boolean, ms?: number): Promise<void> {
    await waiting.until(() => isOver() || test(), ms)
  }

  /** The rest of a pause. Counted between two messages, so that a slow server shortens none. */
  function pauseLeft(since: { readonly atMs: number }, ms: number): number {
    return ms > 0 ? since.atMs + ms - performance.now() : 0
  }

  /** A notification may be why the client continued, or may have announced that something is done. */
  async function untilNoticed(notices: NoticePicker, row: number): Promise<void> {
    const ms = notices.expect(row)
    if (ms === 0) return
    const begun = performance.now()
    await until(() => notices.isHere(), ms)
    notices.waited(performance.now() - begun)
  }

  return {
    async untilTimeFor(frame, messages, { live, picker, notices }) {
      const isBefore = (message: PlannedMessage): boolean =>
        message.peer >= 0 && !message.loose && (concurrency === 'one' || message.peer < frame.row)
      const isAnswered = (): boolean => !outcomes.waiting().some(isBefore)
      if (!isAnswered()) await until(isAnswered)
      // The next response may depend on a request that the server made before the client continued.
      if (picker.isExpected(frame.row)) await until(() => !picker.isExpected(frame.row), timeoutMs)
      picker.giveUp(frame.row)
      await untilNoticed(notices, frame.row)
      // No message shows when a server has processed a response of the client, such as new roots.
      const rested = lastAnswered && (entries.us(frame.row) - lastAnswered.us) / 1000
      const ms = Math.max(
        pauseLeft(lastSent, (frame.us - lastSent.us) / 1000 / speed),
        lastAnswered && rested !== undefined ? pauseLeft(lastAnswered, Math.min(mostRestMs, rested)) : 0,
      )
      if (ms > 0) await until(() => false, ms)
      // Of two responses under one id, the late one could not be identified.
      const isOwed = ({ kind, id }: PlannedMessage): boolean =>
        kind === 'request' && id !== undefined && live.isOwed(id)
      if (messages.some(isOwed)) await until(() => !messages.some(isOwed), timeoutMs)
    },
    sent: ({ us }) => void (lastSent = { us, atMs: performance.now() }),
    answered: (row) => void (lastAnswered = { us: entries.us(row), atMs: performance.now() }),
  }
}
