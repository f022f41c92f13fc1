import type { ExchangeComparison } from '../compare/index.js'
import type { PlannedMessage } from './planned-frames.js'

/** What became of one message of the client. */
export interface MessageOutcome {
  /** Which of several replays it is of, from 1 on. */
  readonly run?: number
  readonly message: PlannedMessage
  readonly status:
    | 'answered'
    /** It asks for no answer. */
    | 'sent'
    | 'timed out'
    /** It could not be sent, or its answer could not be read. */
    | 'failed'
    | 'not sent'
    /** It was sent, and the run was ended before there was an answer. */
    | 'interrupted'
  /** Exact text, as recorded. */
  readonly original: string
  /** Exact text, as sent now. */
  readonly sent?: string
  /** As `sent`, with the recorded values where `--set` gave others, and under the recorded id: what a recording may hold. */
  readonly kept?: string
  /** Exact text of the answer. */
  readonly response?: string
  /** Exact text of the recorded answer. */
  readonly recorded?: string
  /** Why there is no answer, or why it was not sent; in the words of the result file. */
  readonly error?: string
  readonly durationUs?: number
  /** JSON Pointers to values of this run that stand in the place of recorded ones. */
  readonly replaced: readonly string[]
  /** Of a request. */
  readonly comparison?: ExchangeComparison
}
