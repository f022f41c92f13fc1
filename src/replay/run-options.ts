import type { CompareSettings, ComparisonSummary, ExchangeComparison, Subject } from '../compare/index.js'
import type { Unanswered } from './answer-question.js'
import type { GivenValue } from './given-values.js'
import type { Secrets, SetValue } from './live-values.js'
import type { MessageOutcome } from './outcome.js'

/** How a recording is replayed. */
export interface RunOptions {
  /** Milliseconds that one answer may take. */
  readonly timeoutMs: number
  /** Makes a handshake where the recording has none. */
  readonly handshake: boolean
  readonly unanswered: Unanswered
  /** `one`: each answer is waited for. `recorded`: what overlapped overlaps. */
  readonly concurrency: 'one' | 'recorded'
  /** How many times as fast as recorded; Infinity does not wait at all. */
  readonly speed: number
  readonly sets: readonly SetValue[]
  /** Values of what was redacted, by tag. */
  readonly secrets?: Secrets
  readonly settings: CompareSettings
  /** Ends the run: what was not sent is told as such. */
  readonly signal: AbortSignal
}

/** Takes what happens, in the order of the recording. */
export interface RunSink {
  outcome(outcome: MessageOutcome): void
  /**
   * A request of the server that was recorded or came; in no particular order.
   *
   * @param text as it came, under the recorded id: what a recording may hold. Absent where it did not come, or was not recorded
   */
  question(comparison: ExchangeComparison, text?: string): void
}

/** How long one subject took, then and now. */
export interface RunTime {
  readonly subject: Subject
  readonly beforeUs: number | undefined
  readonly afterUs: number | undefined
}

/** How a run ended. */
export interface RunResult extends ComparisonSummary {
  readonly times: Iterable<RunTime>
  /** What `--set` gave, for a recording that is not to hold it. */
  readonly given: readonly GivenValue[]
  /** True when nothing could be asked at all: the server did not start, or cannot be reached. */
  readonly unreachable?: true
}
