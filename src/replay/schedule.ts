import type { QuestionPicker } from './answer-question.js'
import type { OrderedOutcomes } from './ordered-outcomes.js'
import type { Plan } from './plan.js'
import type { PlannedFrame, PlannedMessage } from './planned-frames.js'
import type { RunOptions } from './run-options.js'
import type { LiveConnection } from './live-connection.js'
import type { NoticePicker } from './notice-picker.js'
import type { Waiting } from './waiting.js'

/** When the client of a recording says what. */
export interface Schedule {
  /** Resolves when all that the recorded client had waited for is here, or will not come. */
  untilTimeFor(
    frame: PlannedFrame,
    messages: readonly PlannedMessage[],
    connection: ScheduledConnection,
  ): Promise<void>
  sent(frame: PlannedFrame): void
  /** The recorded answer in this row was given to a question of the server. */
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

/** How long a server may take in peace, at most, what it was answered: no longer than the recorded one had. */
const mostRestMs = 250

export function createSchedule({ plan, options, outcomes, waiting, isOver }: ScheduleContext): Schedule {
  const { timeoutMs, concurrency, speed } = options
  const { entries } = plan.index
  let lastSent = { us: plan.frames.at(0)!.us, atMs: performance.now() }
  /** The client's last answer to a question of the server, as it was recorded and now. */
  let lastAnswered: { readonly us: number; readonly atMs: number } | undefined

  /** Waits are made only where there is something to wait for: each costs a turn. */
  async function until(test: () => boolean, ms?: number): Promise<void> {
    await waiting.until(() => isOver() || test(), ms)
  }

  /** How much is left of a pause: between two messages, so that a server that is slow now shortens none. */
  function pauseLeft(since: { readonly atMs: number }, ms: number): number {
    return ms > 0 ? since.atMs + ms - performance.now() : 0
  }

  /** What the server said unasked may be why the client went on, or told that something is done. */
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
      // What the server asked before the client went on may be what its next answer depends on.
      if (picker.isExpected(frame.row)) await until(() => !picker.isExpected(frame.row), timeoutMs)
      picker.giveUp(frame.row)
      await untilNoticed(notices, frame.row)
      // What a server does with an answer, such as new roots, is told by nothing that it sends.
      const rested = lastAnswered && (entries.us(frame.row) - lastAnswered.us) / 1000
      const ms = Math.max(
        pauseLeft(lastSent, (frame.us - lastSent.us) / 1000 / speed),
        lastAnswered && rested !== undefined ? pauseLeft(lastAnswered, Math.min(mostRestMs, rested)) : 0,
      )
      if (ms > 0) await until(() => false, ms)
      // Of two answers under one id nothing would tell which is the late one.
      const isOwed = ({ kind, id }: PlannedMessage): boolean =>
        kind === 'request' && id !== undefined && live.isOwed(id)
      if (messages.some(isOwed)) await until(() => !messages.some(isOwed), timeoutMs)
    },
    sent: ({ us }) => void (lastSent = { us, atMs: performance.now() }),
    answered: (row) => void (lastAnswered = { us: entries.us(row), atMs: performance.now() }),
  }
}
