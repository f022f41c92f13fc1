import type { ExchangeComparison } from '../compare/index.js'
import type { PlannedMessage } from './planned-frames.js'

/** The outcome of one message of the client. */
export interface MessageOutcome {
  /** Number of the replay, from 1, if there are several. */
  readonly run?: number
  readonly message: PlannedMessage
  readonly status:
    | 'answered'
    /** The message needs no response. */
    | 'sent'
    | 'timed out'
    /** The message could not be sent, or its response could not be read. */
    | 'failed'
    | 'not sent'
    /** The message was sent, and the run ended before a response arrived. */
    | 'interrupted'
  /** Exact text, as recorded. */
  readonly original: string
  /** Exact text, as sent now. */
  readonly sent?: string
  /** Like `sent`, for recordings: with the recorded id, and recorded values in place of those from `--set`. */
  readonly kept?: string
  /** Exact text of the response. */
  readonly response?: string
  /** Exact text of the recorded response. */
  readonly recorded?: string
  /** Why there is no response, or why the message was not sent; in the words of the result file. */
  readonly error?: string
  readonly durationUs?: number
  /** JSON Pointers to values of this run that replace recorded ones. */
  readonly replaced: readonly string[]
  /** For a request. */
  readonly comparison?: ExchangeComparison
}
