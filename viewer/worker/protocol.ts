import type { Level } from '../../src/findings/index.js'
import type { Diagnostic, LoneKind, Session, TapeRecord } from '../../src/model/index.js'
import type { Words } from './words.js'

/** A recording for the worker to open. */
export type Opening =
  | { readonly kind: 'file'; readonly name: string; readonly blob: Blob }
  /** Fetched by the worker; with `follow`, the HTTP response continues as long as the recording. */
  | {
      readonly kind: 'url'
      readonly name: string
      readonly url: string
      readonly follow?: boolean
      /** Path of the file on this machine, if `wiretape ui` provides it. */
      readonly path?: string
      readonly headers?: Readonly<Record<string, string>>
    }

/** A file's name, and its path for commands if known. */
export interface FileName {
  readonly name: string
  readonly path?: string
}

/** Texts of a row besides its columns, read when it is shown. */
export interface Content {
  /** Distinguishes it from others of its method; '' if there is none. */
  readonly text: string
  /** The creator or editor, if not a peer; '' for messages as sent by a peer. */
  readonly author: string
}

/** One recording: a lane of the timeline and a tab. */
export interface Lane {
  readonly index: number
  readonly name: string
  /** Its file, or the first of its segments; `path` only if the page knows it. */
  readonly file: FileName
  readonly format: string
  readonly sessions: readonly Session[]
  readonly state: 'reading' | 'following' | 'done' | 'failed'
  readonly bytesRead: number
  readonly sizeBytes: number
  readonly problems: readonly Diagnostic[]
  readonly problemCount: number
  /** Set for a lane that cannot be read. */
  readonly failure?: { readonly message: string; readonly hint?: string }
}

/**
 * New rows, in columns. Row numbers follow the order of arrival over all lanes; `peer` and `linked` are row
 * numbers or -1. Words are numbers of strings; `strings` contains those not sent before.
 */
export interface Rows {
  readonly lane: number
  readonly first: number
  readonly count: number
  readonly kind: Uint8Array
  readonly flags: Uint32Array
  /** Microseconds since 1970. */
  readonly at: Float64Array
  readonly seq: Int32Array
  readonly size: Uint32Array
  readonly peer: Int32Array
  readonly linked: Int32Array
  readonly method: Uint32Array
  readonly subject: Uint32Array
  readonly note: Uint32Array
  /** JSON-RPC ids: results of `idNumber`. */
  readonly id: Int32Array
  readonly extra: Uint8Array
  readonly strings: readonly string[]
}

const latestMs = Date.UTC(9000, 0)

/** Microseconds since 1970; 0 for an invalid or impossible time. */
export function startOf(startedAt: string): number {
  const ms = Date.parse(startedAt)
  return ms >= 0 && ms < latestMs ? ms * 1000 : 0
}

/** A small integer id is its own number; other ids are words. -1 for none. */
export function idNumber(text: string, wordOf: (text: string) => number): number {
  if (text === '') return -1
  if (text.length < 10 && /^(?:0|[1-9]\d*)$/.test(text)) return Number(text)
  return -2 - wordOf(text)
}

/** As `idNumber`, for exact ASCII text; a start below 0 means none. */
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

/** New facts about rows sent before. */
export interface Changes {
  readonly rows: Int32Array
  readonly kind: Uint8Array
  readonly flags: Uint32Array
  readonly size: Uint32Array
  readonly peer: Int32Array
  /** Words of the row: those of the forwarded text, after a person or a rule changed it. */
  readonly method: Uint32Array
  readonly subject: Uint32Array
  readonly note: Uint32Array
  readonly id: Int32Array
  /** Time for which it was held, in microseconds. */
  readonly heldUs: Float64Array
  /** Time for which the server waited for its client before this response, in microseconds. */
  readonly waitedUs: Float64Array
  /** As `EntryTable.taskUs`. */
  readonly taskUs: Float64Array
}

/** Facts about rows that the fold does not keep; one bit of `extra` each. */
export const extraFlag = {
  redacted: 1,
  http: 2,
  sse: 4,
  /** The row is a note of a person; the model treats it as a stderr line. */
  note: 8,
  /** There is a note about this row. */
  noted: 16,
  /** Other rows belong to it: progress, cancellation, HTTP records. */
  joined: 32,
} as const

/** One row in full. */
export interface Detail {
  readonly row: number
  readonly lane: number
  readonly record: TapeRecord
  /** For a message: its index in the record. */
  readonly part: number
  /** Characters of a payload that was omitted for its size. */
  readonly leftOut?: number
  /** Position of the line on the tape. */
  readonly offset: number
  readonly sizeBytes: number
}

/** A message or other row that belongs to a call. */
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
    /** A request about the task that the call created. */
    | 'poll'
    /** The repeated call, with the input that its response requested. */
    | 'round'
    | LoneKind
    | 'note'
  /** Microseconds since 1970; 0 if the recording has no times. */
  readonly at: number
  /** The content of its row in the list. */
  readonly text: string
  readonly detail: Detail
  /** It has no link to the call, and another request was open. */
  readonly loose: boolean
  /** The response to a request other than the call itself. */
  readonly answer?: Detail
  readonly answerAt?: number
  readonly answerText?: string
  /** The HTTP response to the client's response. */
  readonly accepted?: { readonly at: number; readonly detail: Detail }
  /** For a held message that was dropped. */
  readonly dropped?: { readonly why: string; readonly rule?: string; readonly at: number }
}

/** All steps of a call, in order. */
export interface Story {
  readonly steps: readonly StoryStep[]
  /** Number of further steps. */
  readonly left: number
  /** The end of the call and its task; absent if not recorded. */
  readonly end?: number
  readonly isTask: boolean
}

/** The explanation of a call, as `wiretape explain` prints it. */
export interface Explanation {
  readonly sentences: readonly string[]
  /** The recording is larger than this limit, so the call was not explained. */
  readonly limitBytes?: number
}

/** A finding as the page shows it. */
export interface ToldFinding {
  readonly lane: number
  /** The row that shows it first; empty for a fault of the whole recording. */
  readonly rows: readonly number[]
  readonly rule: string
  readonly title: string
  readonly help: string
  readonly source: { readonly name: string; readonly url: string }
  readonly level: Level
  readonly certainty: string
  /** May quote a peer. */
  readonly message: string
  /** JSON Pointer into the message, or ''. */
  readonly at: string
  readonly tool: string
  /** Equal for the same finding in another recording. */
  readonly hash: string
}

/** Estimated tokens of one definition that a server offers. */
export interface ToldCost {
  readonly server: string
  readonly kind: string
  readonly name: string
  readonly tokens: number
  readonly description: number
  readonly schemas: number
  /** Whether any call in the shown recordings used it. */
  readonly isCalled: boolean
  /** Calls that the page shows, and tokens of their results. */
  readonly calls: number
  readonly results: number
  readonly largest: number
}

export interface FindingsList {
  /** Number of rules run. */
  readonly rules: number
  readonly findings: readonly ToldFinding[]
  /** Number of findings not kept. */
  readonly left: number
}

export interface CostList {
  readonly costs: readonly ToldCost[]
  /** How tokens are estimated, in words. */
  readonly estimator: string
}

/** Two filters run in parallel: one selects rows, the other marks them. */
export type Slot = 'filter' | 'highlight'

export type FromWorker =
  | {
      readonly type: 'matches'
      readonly slot: Slot
      readonly text: string
      /** One bit per row. */
      readonly bits: Uint8Array
      readonly count: number
      readonly done: boolean
    }
  /** Lanes that are new or have changed. */
  | { readonly type: 'lanes'; readonly lanes: readonly Lane[] }
  /** Recordings being fetched that have no lane yet. */
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
