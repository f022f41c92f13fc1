import type { Direction, Envelope, Transport } from './envelope.js'

/** Members of a JSON object as name and exact value text, in order, so that nothing is lost. */
export type JsonMembers = readonly (readonly [name: string, text: string])[]

/** Common to all records: the wall clock and the unknown members of the line. */
interface RecordBase {
  /** ISO 8601 UTC with milliseconds, as written. */
  readonly t?: string
  /** Unknown members of the line; they survive a read and a write. */
  readonly extra?: JsonMembers
}

/** A record observed on the wire, with its time. */
interface Observed extends RecordBase {
  readonly t: string
  /** Monotonic microseconds since the session began. Absent in tapes of other recorders. */
  readonly us?: number
}

/** First line of a tape or of one of its segments. */
export interface MetaRecord extends RecordBase {
  readonly type: 'meta'
  readonly startedAt: string
  readonly label: string
  /** The server's command with its arguments; `[]` over HTTP. */
  readonly command: readonly string[]
  /** Version of the producing tool, under the name that trace v1 uses. */
  readonly mcpTapVersion?: string
  readonly wiretape?: TapeIdentity
  /** True when the file has no such line: this one was made from the next record. */
  readonly made?: true
}

/** Metadata of wiretape's own tapes, beyond trace v1. */
export interface TapeIdentity {
  /** Version of the wiretape that recorded it. */
  readonly version: string
  /** UUID of the session; all segments of one recording share it. */
  readonly session: string
  readonly transport: Transport
  readonly url: string | null
  /** 0-based number of this file within a rotated recording. */
  readonly segment: number
  /** `none` or the name of the redaction rules of this tape. */
  readonly redaction: string
  readonly metadata: JsonMembers
  /** Proof that the user of one data folder recorded it: `originOf` of the tape. */
  readonly origin?: string
  readonly extra?: JsonMembers
}

/** The relation that links one message to another. */
export type LinkKind = 'progress' | 'cancel' | 'task' | 'round' | 'subscription'

/** A certain link to a request. */
export interface Link {
  readonly kind: LinkKind
  /** `proxyId` of the request. */
  readonly to: string
}

/** One JSON-RPC message inside a frame: the only one, or an element of a batch. */
export interface Part {
  /** UUID given at recording (`proxyId`); absent in tapes of other recorders. */
  readonly id?: string
  readonly envelope: Envelope
  /** Position of the message in the record's `raw` (UTF-16 code units, end exclusive). */
  readonly start: number
  readonly end: number
  /** Size in UTF-8 bytes, when the reader knows it. */
  readonly sizeBytes?: number
  /** `proxyId` of the request that this response belongs to. */
  readonly correlatedId?: string
  /** A response to a request that had already been answered. */
  readonly late?: true
  /** `proxyId` of a request of the same side that was still open under the same id. */
  readonly duplicateOf?: string
  readonly links?: readonly Link[]
}

/** One value of a frame that was redacted. */
export interface RedactionMark {
  /** JSON Pointer (RFC 6901) to the value in `raw`; for a partly redacted value, to the whole string. */
  readonly at: string
  /** Equal secrets have equal tags within one tape; a tag reveals nothing else. */
  readonly tag: string
  /** The value is no secret itself: it has too many secrets, or too deep a nesting, to be fully read. */
  readonly why?: 'too-many' | 'too-deep'
}

/** Headers as sent: original names, order and repetitions; secrets replaced. */
export type HttpHeaders = readonly (readonly [name: string, value: string])[]

/** HTTP context of a message. */
export interface HttpContext {
  /** 0-based number of the HTTP exchange within the session. */
  readonly exchange: number
  /** For a message in a request: its method, and its path with the query, secrets replaced. */
  readonly method?: string
  readonly path?: string
  /** For a message in a response. */
  readonly status?: number
  /** Headers of the request or response; only on its first message. */
  readonly headers?: HttpHeaders
  /** Phases of the exchange; on the first message of its response. */
  readonly phases?: HttpPhases
}

/** Durations of the phases of an upstream exchange, in milliseconds. */
export interface HttpPhases {
  /** These three exist only when a connection was opened for the exchange; a reused one has none. */
  readonly dnsMs?: number
  readonly connectMs?: number
  readonly tlsMs?: number
  /** From the ready connection to the head of the response. */
  readonly waitMs: number
}

/** The fields of the server-sent event that carried a message (WHATWG HTML, 9.2). */
export interface SseContext {
  readonly event?: string
  readonly id?: string
  /** Milliseconds. */
  readonly retry?: number
}

/** Line end of a frame on a line-based transport; absent means a line feed. */
export type FrameEnd = 'crlf' | 'none'

/** A frame that held JSON, with its context and its parts. */
interface ObservedFrame extends Observed {
  readonly direction: Direction
  /** Exact JSON text as forwarded, without surrounding white space; secrets replaced. */
  readonly raw: string
  /** Redacted values in `raw`. */
  readonly red?: readonly RedactionMark[]
  /** The value of `raw`, when requested and available to the reader. Must be neither changed nor kept. */
  readonly value?: unknown
  /** The bytes of `raw`, when available to the recorder; valid until the record is written. */
  readonly utf8?: Uint8Array
  readonly batch: boolean
  /** At least one, in text order. */
  readonly parts: readonly Part[]
  /** 0-based number of the first part; the others follow it. */
  readonly seq?: number
  /** The client's conversation, where one recording holds several. */
  readonly conversation?: string
  readonly http?: HttpContext
  readonly sse?: SseContext
  /** Number of the file's entry that holds a request with its response. Not stored on tapes. */
  readonly entry?: number
  readonly frameEnd?: FrameEnd
  /** Base64 of the frame without its line end, when `raw` differs from it in bytes. */
  readonly bytes?: string
  /** Name of the rule that was applied. */
  readonly rule?: string
}

/** A message, or a batch of messages, that was forwarded. */
export interface MessageRecord extends ObservedFrame {
  readonly type: 'message'
  /** True when a person or a rule changed the message before it was forwarded. */
  readonly modified?: true
  /** Exact JSON text as received, for a modified message. */
  readonly original?: string
  /** Milliseconds for which it was held; a `held` record with the same id precedes it. */
  readonly heldMs?: number
  /** True when a person or a rule made it: the other side did not send it. */
  readonly injected?: true
  /** True when its time is unknown, unlike that of others: `t` is copied from the previous one. */
  readonly untimed?: true
}

/** A held message, as received. It crosses the wire only when a message with its id follows. */
export interface HeldRecord extends ObservedFrame {
  readonly type: 'held'
}

/** A held message that was never forwarded. */
export interface DroppedRecord extends Observed {
  readonly type: 'dropped'
  /** `proxyId` of its first part. */
  readonly id: string
  readonly why: string
  readonly rule?: string
}

/** A note of a person, or of the recorder, written while recording. */
export interface NoteRecord extends Observed {
  readonly type: 'note'
  readonly text: string
  /** `proxyId` of the message that the note refers to. */
  readonly about?: string
  /** The server process was replaced; the text describes it in words. */
  readonly restart?: RestartFacts
}

/** Details of a restart: the previous process and the effects on the client. */
export interface RestartFacts {
  /** Exit code of the replaced process; 128 + signal number after a signal. */
  readonly exitCode: number
  /** Milliseconds until the new process accepted messages. */
  readonly tookMs: number
  /** Requests that got an error because the process that received them is gone. */
  readonly unanswered: number
  /** Methods of the lists that changed. */
  readonly changed: readonly string[]
  /** False when the new process lacks something that was announced to the client. */
  readonly fits: boolean
}

/** A line on stdin or stdout that is no JSON object or array. Many clients fail on it. */
export interface NoiseRecord extends Observed {
  readonly type: 'noise'
  readonly direction: Direction
  readonly text: string
  readonly frameEnd?: FrameEnd
  /** Base64 of the line, unless it is valid UTF-8. */
  readonly bytes?: string
}

/** A line (or a long piece of one) that the server wrote to stderr. */
export interface StderrRecord extends Observed {
  readonly type: 'stderr'
  readonly text: string
  readonly frameEnd?: FrameEnd
  readonly bytes?: string
}

/** An HTTP exchange, possibly incomplete, whose response carried no JSON-RPC. */
export interface HttpRecord extends Observed {
  readonly type: 'http'
  readonly exchange: number
  readonly conversation?: string
  readonly method: string
  /** With the query; secrets replaced. */
  readonly path: string
  /** Unless a message of the request has the headers. */
  readonly requestHeaders?: HttpHeaders
  /** Body of a request without JSON-RPC, as far as it is text; secrets replaced. */
  readonly requestBody?: string
  /** Absent without a response. */
  readonly status?: number
  readonly headers?: HttpHeaders
  /** Unless a message of the response has the headers. */
  readonly phases?: HttpPhases
  /** Body of the response, where it is text; secrets replaced. */
  readonly body?: string
  /** Base64 of a body that is not text. */
  readonly bytes?: string
  /** Size of the body on the wire, in bytes. */
  readonly sizeBytes?: number
  /** For an event without a message, such as `endpoint` or one with an id only; the body is its data. */
  readonly sse?: SseContext
  /** The reason why the exchange ended early, or why its body is missing. */
  readonly why?: string
}

/** Traffic that crossed the wire but is not on the tape. */
export interface GapRecord extends Observed {
  readonly type: 'gap'
  /** Missing messages (or other lines) of both directions. */
  readonly lost: number
  /** Missing lines of stderr. */
  readonly lostStderr?: number
  /** Bytes on the wire of the missing messages and lines. */
  readonly lostBytes?: number
  readonly why: string
  /** For one message that was too large to record. */
  readonly direction?: Direction
  readonly sha256?: string
}

/** A recorded message that did not reach the other side. */
export interface UndeliveredRecord extends Observed {
  readonly type: 'undelivered'
  /** `proxyId` of the message. */
  readonly id: string
  readonly why: string
}

/** Last line of a tape, or of one of its segments. Without it the recording was cut off. */
export interface EndRecord extends RecordBase {
  readonly type: 'end'
  readonly t: string
  /**
   * The server's exit status; 128 + signal number after a signal, 127 when it could not be started. Null when
   * the line has none: some recorders omit it after a signal.
   */
  readonly exitCode: number | null
  /** Null when the line has none. */
  readonly durationMs: number | null
  readonly wiretape?: TapeClosing
}

export interface TapeClosing {
  /** Messages in this file. */
  readonly messages: number
  /** JSON-RPC errors and failed tool results in this file; absent when they were not counted. */
  readonly errors?: number
  /** True when the recording continues in the next segment. */
  readonly rotated?: true
  /** Signal that terminated the server. */
  readonly signal?: string
  /** The reason why the server could not be started. */
  readonly error?: string
  /** Number of values that each redaction rule replaced in the whole recording; absent for none. */
  readonly redacted?: readonly RuleCount[]
  /** True when `recover` added the line later. */
  readonly recovered?: true
  readonly extra?: JsonMembers
}

/** Number of values that a redaction rule replaced. */
export interface RuleCount {
  readonly rule: string
  readonly count: number
}

/** A line of an unknown type. It survives a read and a write. */
export interface UnknownRecord {
  readonly type: 'unknown'
  /** The line's own `type`. */
  readonly name: string
  /** The whole line, exact. */
  readonly text: string
}

/** Messages of one frame; each part is a row. */
export type FrameRecord = MessageRecord | HeldRecord

/** A record that is itself a row. Its type is the kind of that row. */
export type LoneRecord = NoiseRecord | StderrRecord | GapRecord | HttpRecord

/** One line of a tape. */
export type TapeRecord =
  | MetaRecord
  | FrameRecord
  | LoneRecord
  | DroppedRecord
  | NoteRecord
  | UndeliveredRecord
  | EndRecord
  | UnknownRecord
