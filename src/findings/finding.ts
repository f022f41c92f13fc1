import type { EntryTable, HeldRecord, MessageRecord, Session, TapeRecord } from '../model/index.js'
import type { Message } from './message.js'
import type { Level } from './levels.js'
import type { ServerState } from './server-state.js'

/** `exact`: the recording proves it. `strong`: evidence, not proof. `pattern`: a person must judge. */
export type Certainty = 'exact' | 'strong' | 'pattern'

export const packs = ['protocol', 'schemas', 'safety', 'contract'] as const
export type Pack = (typeof packs)[number]

/** Categories of the OWASP MCP Top 10 (2025, beta). */
export type OwaspCategory =
  | 'MCP01'
  | 'MCP02'
  | 'MCP03'
  | 'MCP04'
  | 'MCP05'
  | 'MCP06'
  | 'MCP07'
  | 'MCP08'
  | 'MCP09'
  | 'MCP10'

/** A rule's description. */
export interface RuleInfo {
  /** `pack/name`. */
  readonly id: string
  readonly pack: Pack
  /** Default level of its findings. */
  readonly level: Level
  readonly certainty: Certainty
  /** One sentence: the fault it finds. */
  readonly title: string
  /** One or two sentences: the consequence, and what to do. */
  readonly help: string
  /** The specification section or catalogue it is based on. */
  readonly source: { readonly name: string; readonly url: string }
  readonly owasp?: OwaspCategory
  /** Set if it needs only a message and earlier ones, and no redaction: it can check messages in transit. */
  readonly live?: true
}

/** One fault in a recording. */
export interface Finding {
  readonly rule: RuleInfo
  readonly level: Level
  /** Text for people. May quote a peer: not escaped. */
  readonly message: string
  /** Rows of the fold, the most relevant first; empty for a fault of the whole recording. */
  readonly rows: readonly number[]
  /** 0-based number of the record with the fault; undefined for the whole recording. */
  readonly record?: number
  /** JSON Pointer (RFC 6901) into the message of the first row. */
  readonly at?: string
  readonly server?: string
  readonly tool?: string
  /** Equal for the same fault in another recording: contains no times or numbers. */
  readonly fingerprint: string
}

/** A fault reported by a rule. */
export interface Fault {
  readonly message: string
  readonly at?: string
  readonly tool?: string | undefined
  /** Distinguishes this fault from others of the rule in the same tool. @default the pointer */
  readonly what?: string
  /** Additional related rows. */
  readonly also?: readonly number[]
  readonly level?: Level
}

/** @param where the message or row with the fault; undefined for the whole recording */
export type Say = (where: Message | number | undefined, fault: Fault) => void

/** Facts about a recording beyond its messages: the fold, or the part of it available for messages in transit. */
export interface Facts {
  readonly sessions: readonly Pick<Session, 'transport' | 'label' | 'segments' | 'command' | 'url'>[]
  readonly entries: Pick<
    EntryTable,
    'length' | 'kind' | 'direction' | 'seq' | 'size' | 'has' | 'peer' | 'linked' | 'latencyUs'
  >
}

/** Facts shared by the rules on one recording. */
export interface Scope {
  readonly server: ServerState
  /** Facts across all recordings of one run, by the id of the rule that owns them. */
  readonly run: Map<string, unknown>
  /** `entries.has(row, flag)` and the like, for the part of the recording read so far. */
  readonly fold: Facts
}

/** One rule, applied to one recording. */
export interface Watch {
  /** Messages that crossed the wire, including those dropped on the way, in order. */
  message?(message: Message): void
  /** Records other than messages. */
  record?(record: Exclude<TapeRecord, MessageRecord | HeldRecord>, row: number): void
  /** The recording has been read to its end. */
  end?(): void
}

export interface Rule {
  readonly info: RuleInfo
  begin(scope: Scope, say: Say): Watch
}
