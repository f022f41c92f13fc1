import type { Direction, EntryKind, Transport } from '../model/index.js'

/** How the exchange that a message belongs to ended. */
export type SubjectStatus = 'ok' | 'error' | 'unanswered' | 'cancelled'

/** What `is:` can ask. */
export type FilterFlag = EntryKind | 'answer' | SubjectFlag

/** Flags that a subject knows; the others follow from its kind. */
export type SubjectFlag =
  | 'tool-error'
  | 'unanswered'
  | 'cancelled'
  | 'late'
  | 'orphan'
  | 'duplicate'
  | 'batch'
  | 'modified'
  | 'dropped'
  | 'held'
  | 'waiting'
  | 'injected'
  | 'undelivered'

/** What a rule found in a message, as far as a filter asks: see `findings/`. */
export interface SubjectFinding {
  readonly level: FindingLevel
  /** `id` is `pack/name`. */
  readonly rule: { readonly id: string }
}

export type FindingLevel = 'error' | 'warning' | 'note'

/**
 * What a filter looks at: a row of a recording, or one live message. Null means that there is no such thing, and
 * then no condition on it holds. May be made of getters: only what a filter asks for is read.
 */
export interface FilterSubject {
  /** `note`: what a person said about the recording, where it is a row. */
  readonly kind: EntryKind | 'note'
  /** Null for what has none, such as a line of stderr. */
  readonly direction: Direction | null
  /** Its own, or for an answer that of the request it answers. */
  readonly method: string | null
  /** Tool, prompt, resource URI …, of a request or of the request that an answer answers. */
  readonly name: string | null
  /** Exact JSON text of the JSON-RPC id. */
  readonly id: string | null
  /** Message number. */
  readonly sequence: number | null
  /** Of the exchange: a request has it as soon as it is answered. */
  readonly status: SubjectStatus | null
  readonly httpStatus: number | null
  /** Exact JSON text of the code of a JSON-RPC error. */
  readonly errorCode: string | null
  /** From request to answer, of both; without the time that somebody held it. */
  readonly latencyMs: number | null
  readonly sizeBytes: number
  /** Milliseconds since 1970. */
  readonly timeMs: number | null
  readonly conversation: string | null
  readonly transport: Transport | null
  /** Name of the rule that was applied to it. */
  readonly rule: string | null
  /** What rules found in it; empty where no rules were run. */
  readonly findings: readonly SubjectFinding[]
  is(flag: SubjectFlag): boolean
  /** Exact JSON text of a message, the line of noise or stderr; null when it is not at hand. */
  raw(): string | null
}
