import type { Direction, HttpHeaders, Session } from '../../model/index.js'

/** A message related to a call, by its number in the recording; -1 if it has none. */
export interface RowTime {
  readonly seq: number
  /** Microseconds since the session began; undefined if the recording has no times. */
  readonly us: number | undefined
}

/** Content of a result or an error. */
export interface CallAnswer extends RowTime {
  readonly kind: 'result' | 'error'
  readonly isLate: boolean
  readonly isToolError: boolean
  /** From a rule or a person, not from the other side. */
  readonly isInjected: boolean
  readonly isModified: boolean
  readonly rule?: string
  readonly heldUs: number
  readonly code?: string
  /** For an error, its message; for a failed tool call, the start of its text. */
  readonly text?: string
  readonly httpStatus?: number
  /** Final state of the task that it created, or `open`. */
  readonly task?: 'open' | 'completed' | 'failed' | 'cancelled'
  readonly needsInput: boolean
  /** Whether it was held and not forwarded. */
  readonly fate: 'passed' | 'dropped' | 'waiting'
  readonly why?: string
  readonly undelivered?: string
}

export interface CallHttp {
  readonly method: string
  readonly path: string
  readonly status?: number
  readonly why?: string
  /** The start of the body. */
  readonly body?: string
  readonly headers?: HttpHeaders
  readonly us: number | undefined
}

/** All recorded facts about one request. Texts of peers are verbatim, truncated to a limit. */
export interface CallFacts {
  readonly row: number
  readonly seq: number
  readonly us: number | undefined
  readonly direction: Direction
  readonly session: Session | undefined
  method: string
  subject?: string
  exchange?: number
  rule?: string
  isModified: boolean
  isInjected: boolean
  heldUs: number
  /** Whether it is still held, or was dropped. */
  fate: 'passed' | 'dropped' | 'waiting'
  dropped?: { readonly why: string; readonly rule?: string; readonly us: number | undefined }
  undelivered?: string
  isCancelled: boolean
  isDuplicate: boolean
  isUnanswered: boolean
  isStream: boolean
  answers: CallAnswer[]
  cancels: (RowTime & { readonly reason?: string; readonly direction: Direction })[]
  progress: { count: number; last: RowTime; before: number; text?: string } | undefined
  polls: { count: number; last: RowTime; status?: string } | undefined
  /** The end of its task, and the message with the reason, if there is one. */
  taskEnd: (RowTime & { readonly text: string }) | undefined
  /** The client's request to cancel its task. */
  taskCancel: RowTime | undefined
  rounds: RowTime[]
  /** Equivalent requests of the same side, before and after. */
  earlier: RowTime[]
  again: (RowTime & { answer: 'none' | 'good' | 'bad' })[]
  http: CallHttp[]
  /** The last lines of stderr between the request and the end of the wait for its response. */
  stderr: { text: string; readonly us: number | undefined }[]
  stderrCount: number
  noise: { count: number; text: string } | undefined
  gaps: { count: number; why: string } | undefined
  /** Messages of the other side in this conversation, after the request and before its response or the end. */
  otherSide: { count: number; last: RowTime } | undefined
}

/** The outcome of a call. */
export const callOutcomes = [
  'answered',
  'tool-error',
  'error',
  'answered-here',
  'http-refused',
  'unreachable',
  'never-sent',
  'waiting',
  'undelivered',
  'cancelled',
  'late',
  'unanswered',
] as const
export type CallOutcome = (typeof callOutcomes)[number]

/** Cause of a failure: the `server` or `client` program, the `network` between, or a `rule` or `person` in wiretape. */
export type CallBlame =
  | 'nobody'
  | 'server'
  | 'client'
  | 'network'
  | 'rule'
  | 'person'
  | 'wiretape'
  | 'unknown'

/** One fact in a sentence, for people; escaped. */
export interface Sentence {
  readonly about:
    | 'request'
    | 'held'
    | 'changed'
    | 'answer'
    | 'refused'
    | 'cancelled'
    | 'progress'
    | 'task'
    | 'retry'
    | 'connection'
    | 'stderr'
  readonly text: string
  /** Numbers of the messages that show it. */
  readonly messages: readonly number[]
}

export interface CallStory {
  /** Message number of the request. */
  readonly message: number
  /** Message number of its first response. */
  readonly answer?: number
  readonly method: string
  readonly subject?: string
  readonly direction: Direction
  readonly outcome: CallOutcome
  readonly blame: CallBlame
  /** The reason for `blame`, in a sentence. */
  readonly because: string
  readonly sentences: readonly Sentence[]
  /** Statements that the recording cannot prove. */
  readonly unproven: readonly string[]
}
