import type { Direction, HttpHeaders, Session } from '../../model/index.js'

/** A message that belongs to a call, by its number in the recording; -1 where it has none. */
export interface RowTime {
  readonly seq: number
  /** Microseconds since the session began; undefined where the recording says no times. */
  readonly us: number | undefined
}

/** What a result or an error said. */
export interface CallAnswer extends RowTime {
  readonly kind: 'result' | 'error'
  readonly isLate: boolean
  readonly isToolError: boolean
  /** A rule or a person answered, not the other side. */
  readonly isInjected: boolean
  readonly isModified: boolean
  readonly rule?: string
  readonly heldUs: number
  readonly code?: string
  /** Of an error its message; of a failed tool call the start of its text. */
  readonly text?: string
  readonly httpStatus?: number
  readonly createsTask: boolean
  readonly needsInput: boolean
  /** It was held and did not go on. */
  readonly fate: 'passed' | 'dropped' | 'waiting'
  readonly why?: string
  readonly undelivered?: string
}

export interface CallHttp {
  readonly method: string
  readonly path: string
  readonly status?: number
  readonly why?: string
  /** The start of it. */
  readonly body?: string
  readonly headers?: HttpHeaders
  readonly us: number | undefined
}

/** Everything that a recording says about one request. Texts of peers are as they were, cut to a bounded length. */
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
  /** It was held and is so still, or was dropped. */
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
  rounds: RowTime[]
  /** Requests of the same side that ask for the same, before and after. */
  earlier: RowTime[]
  again: (RowTime & { answer: 'none' | 'good' | 'bad' })[]
  http: CallHttp[]
  /** Lines of stderr between the request and what ended the wait for an answer; the last ones. */
  stderr: { text: string; readonly us: number | undefined }[]
  stderrCount: number
  noise: { count: number; text: string } | undefined
  gaps: { count: number; why: string } | undefined
  /** Messages of the other side in this conversation, after the request and before its answer or the end. */
  otherSide: { count: number; last: RowTime } | undefined
}

/** How a call ended. */
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

/** Who is at fault: `server` and `client` are the two programs, `network` what is between them, `rule` and `person` act in wiretape. */
export type CallBlame =
  | 'nobody'
  | 'server'
  | 'client'
  | 'network'
  | 'rule'
  | 'person'
  | 'wiretape'
  | 'unknown'

/** One fact in a sentence, for a person; escaped. */
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
  /** Messages that show it. */
  readonly messages: readonly number[]
}

export interface CallStory {
  /** Number of the request. */
  readonly message: number
  /** Number of its first answer. */
  readonly answer?: number
  readonly method: string
  readonly subject?: string
  readonly direction: Direction
  readonly outcome: CallOutcome
  readonly blame: CallBlame
  /** Why it is at fault, in a sentence. */
  readonly because: string
  readonly sentences: readonly Sentence[]
  /** What the recording cannot prove. */
  readonly unproven: readonly string[]
}
