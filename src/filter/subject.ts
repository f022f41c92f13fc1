import type { Direction, EntryKind, Transport } from '../model/index.js'

/** Outcome of the message's exchange. */
export type SubjectStatus = 'ok' | 'error' | 'unanswered' | 'cancelled'

/** Values of `is:`. */
export type FilterFlag = EntryKind | 'answer' | SubjectFlag

/** Flags provided by a subject; the others follow from its kind. */
export type SubjectFlag =
  | 'error'
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

/** A rule's finding in a message, as needed by filters: see `findings/`. */
export interface SubjectFinding {
  readonly level: FindingLevel
  /** `id` is `pack/name`. */
  readonly rule: { readonly id: string }
}

export type FindingLevel = 'error' | 'warning' | 'note'

/**
 * Input of a filter: a row of a recording, or one live message. Null means that a fact is missing; conditions on
 * it are false. May have getters: a filter reads only what it needs.
 */
export interface FilterSubject {
  /** `note`: a person's note in the recording, where it is a row. */
  readonly kind: EntryKind | 'note'
  /** Null if there is none, as for a line of stderr. */
  readonly direction: Direction | null
  /** Its own method, or for a response that of its request. */
  readonly method: string | null
  /** Tool, prompt, resource URI …, of a request or of a response's request. */
  readonly name: string | null
  /** Exact JSON text of the JSON-RPC id. */
  readonly id: string | null
  /** Message number. */
  readonly sequence: number | null
  /** Status of the exchange: a request has it once it is answered. */
  readonly status: SubjectStatus | null
  readonly httpStatus: number | null
  /** Exact JSON text of the code of a JSON-RPC error. */
  readonly errorCode: string | null
  /** Time from request to response, set on both; excludes time held at the gate. */
  readonly latencyMs: number | null
  readonly sizeBytes: number
  /** Milliseconds since 1970. */
  readonly timeMs: number | null
  readonly conversation: string | null
  readonly transport: Transport | null
  /** Name of the rule applied to it. */
  readonly rule: string | null
  /** Findings in it; empty if no rules were run. */
  readonly findings: readonly SubjectFinding[]
  is(flag: SubjectFlag): boolean
  /** Exact JSON text of a message, the line of noise or stderr; null if not available. */
  raw(): string | null
}
