import type { CompareSettings, ComparisonSummary, ExchangeComparison, Subject } from '../compare/index.js'
import type { Unanswered } from './default-answer.js'
import type { GivenValue } from './given-values.js'
import type { Secrets, SetValue } from './live-values.js'
import type { MessageOutcome } from './outcome.js'

/** How a recording is replayed. */
export interface RunOptions {
  /** Time limit for one response, in milliseconds. */
  readonly timeoutMs: number
  /** Makes a handshake where the recording has none. */
  readonly handshake: boolean
  readonly unanswered: Unanswered
  /** `one`: wait for each response. `recorded`: requests overlap as recorded. */
  readonly concurrency: 'one' | 'recorded'
  /** Speed as a multiple of the recorded one; Infinity does not wait at all. */
  readonly speed: number
  readonly sets: readonly SetValue[]
  /** Redacted values, by tag. */
  readonly secrets?: Secrets
  readonly settings: CompareSettings
  /** Ends the run; remaining messages are reported as not sent. */
  readonly signal: AbortSignal
}

/** Takes the events of a run, in the order of the recording. */
export interface RunSink {
  outcome(outcome: MessageOutcome): void
  /**
   * A request of the server, recorded or live; in no particular order.
   *
   * @param text live text under the recorded id, fit for a recording. Absent if it did not come or was not recorded
   */
  question(comparison: ExchangeComparison, text?: string): void
}

/** Latency of one subject, then and now. */
export interface RunTime {
  readonly subject: Subject
  readonly beforeUs: number | undefined
  readonly afterUs: number | undefined
}

/** How a run ended. */
export interface RunResult extends ComparisonSummary {
  readonly times: Iterable<RunTime>
  /** Values of `--set`, which a recording must not contain. */
  readonly given: readonly GivenValue[]
  /** No request could be sent: the server did not start, or cannot be reached. */
  readonly unreachable?: true
}
