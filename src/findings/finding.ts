import type { EntryTable, HeldRecord, MessageRecord, Session, TapeRecord } from '../model/index.js'
import type { Message } from './message.js'
import type { Level } from './levels.js'
import type { ServerState } from './server-state.js'

/** `exact`: the recording proves it. `strong`: evidence, not proof. `pattern`: a likeness, for a person to judge. */
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

/** What is known of a rule without running it. */
export interface RuleInfo {
  /** `pack/name`. */
  readonly id: string
  readonly pack: Pack
  /** Of its findings, unless a finding says otherwise. */
  readonly level: Level
  readonly certainty: Certainty
  /** One sentence: the fault that it finds. */
  readonly title: string
  /** One or two sentences: what follows from it, and what to do. */
  readonly help: string
  /** The paragraph or catalogue that it comes from. */
  readonly source: { readonly name: string; readonly url: string }
  readonly owasp?: OwaspCategory
  /** Needs a message and earlier ones only, and no redaction: it can look at messages that are on their way. */
  readonly live?: true
}

/** One fault in a recording. */
export interface Finding {
  readonly rule: RuleInfo
  readonly level: Level
  /** In words for a person, not escaped: it may quote a peer. */
  readonly message: string
  /** Rows of the fold, the one that shows it first; empty for a fault of the whole recording. */
  readonly rows: readonly number[]
  /** 0-based number of the record in the recording that shows it; undefined for the whole. */
  readonly record?: number
  /** JSON Pointer (RFC 6901) into the message of the first row. */
  readonly at?: string
  readonly server?: string
  readonly tool?: string
  /** Equal for the same fault in another recording: no time and no number stands in it. */
  readonly fingerprint: string
}

/** What a rule says. */
export interface Fault {
  readonly message: string
  readonly at?: string
  readonly tool?: string | undefined
  /** What tells this fault from others of the rule in the same tool; the pointer without it. */
  readonly what?: string
  /** Rows that belong to it besides that of the message. */
  readonly also?: readonly number[]
  readonly level?: Level
}

/** @param where the message or the row that shows it; undefined for the whole recording */
export type Say = (where: Message | number | undefined, fault: Fault) => void

/** What is known of a recording beside its messages: the fold, or as much as is known while messages are on their way. */
export interface Facts {
  readonly sessions: readonly Pick<Session, 'transport' | 'label' | 'segments' | 'command' | 'url'>[]
  readonly entries: Pick<
    EntryTable,
    'length' | 'kind' | 'direction' | 'seq' | 'size' | 'has' | 'peer' | 'linked' | 'latencyUs'
  >
}

/** Facts that rules about one recording share. */
export interface Scope {
  readonly server: ServerState
  /** Facts about all recordings of one run, by the id of the rule that keeps them. */
  readonly run: Map<string, unknown>
  /** `entries.has(row, flag)` and the like, as far as the recording was read. */
  readonly fold: Facts
}

/** One rule at work on one recording. */
export interface Watch {
  /** Messages that crossed the wire, and such that were dropped on the way, in their order. */
  message?(message: Message): void
  /** Records that are no messages. */
  record?(record: Exclude<TapeRecord, MessageRecord | HeldRecord>, row: number): void
  /** The recording was read to its end. */
  end?(): void
}

export interface Rule {
  readonly info: RuleInfo
  begin(scope: Scope, say: Say): Watch
}
