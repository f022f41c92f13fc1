import type { Level } from '../../src/findings/index.js'
import type { Diagnostic, LoneKind, Session, TapeRecord } from '../../src/model/index.js'
import type { Words } from './words.js'

/** What the page asks the worker to open. */
export type Opening =
  | { readonly kind: 'file'; readonly name: string; readonly blob: Blob }
  /** Fetched by the worker; `follow` names an address whose answer goes on while the recording does. */
  | {
      readonly kind: 'url'
      readonly name: string
      readonly url: string
      readonly follow?: boolean
      /** Where the file is on this machine, as far as `wiretape ui` says. */
      readonly path?: string
      readonly headers?: Readonly<Record<string, string>>
    }

/** A file as a command can name it. */
export interface FileName {
  readonly name: string
  readonly path?: string
}

/** What a row says beyond its columns, read when it is shown. */
export interface Content {
  /** What tells it from others of its method; '' where there is nothing. */
  readonly text: string
  /** Who created or changed it instead of a peer; '' where a peer sent it as it is. */
  readonly author: string
}

/** One recording: a lane of the timeline and a tab. */
export interface Lane {
  readonly index: number
  readonly name: string
  /** Its file, or the first of its segments; `path` only where the page was told. */
  readonly file: FileName
  readonly format: string
  readonly sessions: readonly Session[]
  readonly state: 'reading' | 'following' | 'done' | 'failed'
  readonly bytesRead: number
  readonly sizeBytes: number
  readonly problems: readonly Diagnostic[]
  readonly problemCount: number
  /** Of a lane that cannot be read. */
  readonly failure?: { readonly message: string; readonly hint?: string }
}

/**
 * New rows, in columns. Row numbers are given in the order of arrival over all lanes; `peer` and `linked` are
 * such numbers or -1. Words are numbers of strings: `strings` brings those that were not sent before.
 */
export interface Rows {
  readonly lane: number
  readonly first: number
  readonly count: number
  readonly kind: Uint8Array
  readonly flags: Uint16Array
  /** Microseconds since 1970. */
  readonly at: Float64Array
  readonly seq: Int32Array
  readonly size: Uint32Array
  readonly peer: Int32Array
  readonly linked: Int32Array
  readonly method: Uint32Array
  readonly subject: Uint32Array
  readonly note: Uint32Array
  /** JSON-RPC ids: what `idNumber` made of them. */
  readonly id: Int32Array
  readonly extra: Uint8Array
  readonly strings: readonly string[]
}

const latestMs = Date.UTC(9000, 0)

/** Microseconds since 1970; 0 for what is no time, or one that no clock has shown. */
export function startOf(startedAt: string): number {
  const ms = Date.parse(startedAt)
  return ms >= 0 && ms < latestMs ? ms * 1000 : 0
}

/** An id that is a small whole number stands for itself; another is a word. -1 is none. */
export function idNumber(text: string, wordOf: (text: string) => number): number {
  if (text === '') return -1
  if (text.length < 10 && /^(?:0|[1-9]\d*)$/.test(text)) return Number(text)
  return -2 - wordOf(text)
}

/** As `idNumber`, of exact text in ASCII; a start below 0 is none. */
export function idNumberOfBytes(bytes: Uint8Array, start: number, end: number, words: Words): number {
  if (start < 0) return -1
  let value = 0
  const isCount = end - start < 10 && (bytes[start] !== 0x30 || end - start === 1)
  for (let i = start; isCount && i < end; i += 1) {
    const digit = bytes[i]! - 0x30
    if (digit < 0 || digit > 9) return -2 - words.numberOfBytes(bytes, start, end)
    value = value * 10 + digit
  }
  return isCount ? value : -2 - words.numberOfBytes(bytes, start, end)
}

export function idText(number: number, wordAt: (number: number) => string): string {
  if (number >= 0) return String(number)
  return number === -1 ? '' : wordAt(-2 - number)
}

/** Rows that were sent before and about which more is known now. */
export interface Changes {
  readonly rows: Int32Array
  readonly kind: Uint8Array
  readonly flags: Uint16Array
  readonly size: Uint32Array
  readonly peer: Int32Array
  /** For how long it was held, in microseconds. */
  readonly heldUs: Float64Array
  /** For how long the server waited for its client before this answer, in microseconds. */
  readonly waitedUs: Float64Array
}

/** Facts about rows that the fold does not keep; each is one bit of `extra`. */
export const extraFlag = {
  redacted: 1,
  http: 2,
  sse: 4,
  /** The row is a note of a person; the model has it as a line that came besides. */
  note: 8,
  /** There is a note about it. */
  noted: 16,
  /** Something else belongs to it: progress, cancellation, what HTTP said. */
  joined: 32,
} as const

/** One row in full. */
export interface Detail {
  readonly row: number
  readonly lane: number
  readonly record: TapeRecord
  /** Of a message: which part of its record. */
  readonly part: number
  /** Characters of the payload, when it was left out for its size. */
  readonly leftOut?: number
  /** The line on the tape. */
  readonly offset: number
  readonly sizeBytes: number
}

/** Something that belongs to a call. */
export interface StoryStep {
  readonly row: number
  readonly kind:
    | 'request'
    | 'answer'
    | 'progress'
    | 'log'
    | 'cancel'
    | 'notification'
    /** A request of the other side: sampling, elicitation, roots. */
    | 'asked'
    /** A request about the task that the call began. */
    | 'poll'
    /** The call again, with what its answer had asked for. */
    | 'round'
    | LoneKind
    | 'note'
  /** Microseconds since 1970; 0 where the recording says no times. */
  readonly at: number
  /** The content that its row in the list has. */
  readonly text: string
  readonly detail: Detail
  /** Nothing links it to the call, and another request was open. */
  readonly loose: boolean
  /** Of a request other than the call itself. */
  readonly answer?: Detail
  readonly answerAt?: number
  readonly answerText?: string
  /** Of a held message that was dropped. */
  readonly dropped?: { readonly why: string; readonly rule?: string; readonly at: number }
}

/** Everything that belongs to a call, in order. */
export interface Story {
  readonly steps: readonly StoryStep[]
  /** Steps beyond those. */
  readonly left: number
  /** When it was over, and its task too; absent where the recording has no end of it. */
  readonly end?: number
  readonly isTask: boolean
}

/** A finding as the page shows it. */
export interface ToldFinding {
  readonly lane: number
  /** The one that shows it first; empty for a fault of the whole recording. */
  readonly rows: readonly number[]
  readonly rule: string
  readonly title: string
  readonly help: string
  readonly source: { readonly name: string; readonly url: string }
  readonly level: Level
  readonly certainty: string
  /** It may quote a peer. */
  readonly message: string
  /** JSON Pointer into the message, or nothing. */
  readonly at: string
  readonly tool: string
  /** Equal for the same fault in another recording. */
  readonly hash: string
}

/** Tokens, estimated, of one thing that a server offers. */
export interface ToldCost {
  readonly server: string
  readonly kind: string
  readonly name: string
  readonly tokens: number
  readonly description: number
  readonly schemas: number
  readonly calls: number
  readonly results: number
  readonly largest: number
}

export interface FindingsList {
  /** Rules that looked. */
  readonly rules: number
  readonly findings: readonly ToldFinding[]
  /** Findings beyond those that are kept. */
  readonly left: number
  readonly costs: readonly ToldCost[]
  readonly estimator: string
}

/** Two filters run beside one another: what is shown, and what is marked. */
export type Slot = 'filter' | 'highlight'

export type FromWorker =
  | {
      readonly type: 'matches'
      readonly slot: Slot
      readonly text: string
      /** One bit a row. */
      readonly bits: Uint8Array
      readonly count: number
      readonly done: boolean
    }
  /** They are new, or more is known of them. */
  | { readonly type: 'lanes'; readonly lanes: readonly Lane[] }
  /** What is being fetched and has no lane yet. */
  | { readonly type: 'opening'; readonly names: readonly string[] }
  | { readonly type: 'rows'; readonly rows: Rows; readonly changes: Changes }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly message: string; readonly hint?: string }
  | { readonly type: 'progress'; readonly id: number; readonly value: unknown }

export interface ToWorker {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
}
