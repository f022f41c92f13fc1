import type { Direction, Envelope, Transport } from './envelope.js'

/** Members of a JSON object as name and exact value text, in order: nothing is lost by keeping it. */
export type JsonMembers = readonly (readonly [name: string, text: string])[]

/** What every record may carry: the wall clock and the members of its line that we have no name for. */
interface RecordBase {
  /** ISO 8601 UTC with milliseconds, as written. */
  readonly t?: string
  /** Unknown members of the line; they survive a read and a write. */
  readonly extra?: JsonMembers
}

/** A record that was observed on the wire at a moment. */
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
  /** The server's argv; `[]` over HTTP. */
  readonly command: readonly string[]
  /** Version of the producing tool, as trace v1 names it. */
  readonly mcpTapVersion?: string
  readonly wiretape?: TapeIdentity
  /** True when the file has no such line: this one was made of the record that follows. */
  readonly made?: true
}

/** What our own tapes say about themselves, beyond trace v1. */
export interface TapeIdentity {
  /** Version of wiretape that recorded it. */
  readonly version: string
  /** UUID of the session; all segments of one recording share it. */
  readonly session: string
  readonly transport: Transport
  readonly url: string | null
  /** 0-based number of this file within a rotated recording. */
  readonly segment: number
  /** `none` or the name of the rules that were applied to this tape. */
  readonly redaction: string
  readonly metadata: JsonMembers
  /** Proves that the user of one data folder recorded it: `originOf` of the tape. */
  readonly origin?: string
  readonly extra?: JsonMembers
}

/** Why one message is known to belong to another. */
export type LinkKind = 'progress' | 'cancel' | 'task' | 'round' | 'subscription'

/** A certain connection to the request it names. */
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
  /** Where the message stands in the record's `raw` (UTF-16 code units, end exclusive). */
  readonly start: number
  readonly end: number
  /** Bytes of it in UTF-8, where whoever read it knows. */
  readonly sizeBytes?: number
  /** `proxyId` of the request that this answer belongs to. */
  readonly correlatedId?: string
  /** An answer to a request that had been answered before. */
  readonly late?: true
  /** `proxyId` of a request of the same side that was still open under the same id. */
  readonly duplicateOf?: string
  readonly links?: readonly Link[]
}

/** One value that redaction took out of a frame. */
export interface RedactionMark {
  /** JSON Pointer (RFC 6901) to the value in `raw`; of a value that was cut in part, to the whole string. */
  readonly at: string
  /** Equal secrets have equal tags inside one tape; nothing else can be learned from it. */
  readonly tag: string
  /** The value is no secret itself: it holds too many of them, or is nested too deep, to be read to the end. */
  readonly why?: 'too-many' | 'too-deep'
}

/** Headers as they were sent: names as written, in order, repeated ones too; secrets replaced. */
export type HttpHeaders = readonly (readonly [name: string, value: string])[]

/** Where a message stood in HTTP. */
export interface HttpContext {
  /** 0-based number of the HTTP exchange within the session. */
  readonly exchange: number
  /** Of a message in a request: its method, and its path with the query, secrets replaced. */
  readonly method?: string
  readonly path?: string
  /** Of a message in a response. */
  readonly status?: number
  /** Of the request or response; only on the first message of each. */
  readonly headers?: HttpHeaders
  /** Of the exchange; on the first message of its response. */
  readonly phases?: HttpPhases
}

/** How long the parts of an exchange with the upstream took, in milliseconds. */
export interface HttpPhases {
  /** These three belong to a connection that was made for the exchange; a reused connection has none of them. */
  readonly dnsMs?: number
  readonly connectMs?: number
  readonly tlsMs?: number
  /** From the moment when the connection was ready to the head of the response. */
  readonly waitMs: number
}

/** The fields of the server-sent event that brought a message (WHATWG HTML, 9.2). */
export interface SseContext {
  readonly event?: string
  readonly id?: string
  /** Milliseconds. */
  readonly retry?: number
}

/** How the frame of a line-based transport ended; absent means with a line feed. */
export type FrameEnd = 'crlf' | 'none'

/** A frame that held JSON, where it stood and what belongs to it. */
interface ObservedFrame extends Observed {
  readonly direction: Direction
  /** Exact JSON text as it was passed on, white space around it left out; secrets replaced. */
  readonly raw: string
  /** What redaction replaced in `raw`. */
  readonly red?: readonly RedactionMark[]
  /** The value of `raw`, where it was asked for and the reader has it at hand. Not to be changed, nor to be kept. */
  readonly value?: unknown
  /** The bytes of `raw`, where the recorder has them at hand; valid until the record is written. */
  readonly utf8?: Uint8Array
  readonly batch: boolean
  /** At least one; in the order of the text. */
  readonly parts: readonly Part[]
  /** 0-based number of the first part; the others follow it. */
  readonly seq?: number
  /** Which client's talk this belongs to, where one recording holds several. */
  readonly conversation?: string
  readonly http?: HttpContext
  readonly sse?: SseContext
  /** Number of the entry of its file, where that holds a request with its answer. No tape keeps it. */
  readonly entry?: number
  readonly frameEnd?: FrameEnd
  /** Base64 of the frame without its line end, when `raw` cannot stand for it byte for byte. */
  readonly bytes?: string
  /** Name of the rule that decided about it. */
  readonly rule?: string
}

/** A message, or a batch of them, that was passed on. */
export interface MessageRecord extends ObservedFrame {
  readonly type: 'message'
  /** True when a person or a rule changed the message before it was passed on. */
  readonly modified?: true
  /** Exact JSON text as it arrived, of a modified message. */
  readonly original?: string
  /** For how long it was held, in milliseconds; a `held` record with the same id stands before it. */
  readonly heldMs?: number
  /** True when a person or a rule made it: the other side did not send it. */
  readonly injected?: true
  /** True when nothing says when it was, though others do: `t` is that of the one before it. */
  readonly untimed?: true
}

/** A message that has to wait, as it arrived. It crosses the wire when a message with its id follows, if ever. */
export interface HeldRecord extends ObservedFrame {
  readonly type: 'held'
}

/** A held message that does not cross the wire. */
export interface DroppedRecord extends Observed {
  readonly type: 'dropped'
  /** `proxyId` of its first part. */
  readonly id: string
  readonly why: string
  readonly rule?: string
}

/** What a person, or the recorder, said about a recording while it was made. */
export interface NoteRecord extends Observed {
  readonly type: 'note'
  readonly text: string
  /** `proxyId` of the message it is about. */
  readonly about?: string
  /** The process of the server was replaced; the text says so in words. */
  readonly restart?: RestartFacts
}

/** What became of the process before and what the client noticed. */
export interface RestartFacts {
  /** Of the process that was replaced; 128 + signal number after a signal. */
  readonly exitCode: number
  /** Until the new one took messages, in milliseconds. */
  readonly tookMs: number
  /** Requests that got an error, since the process that had them is gone. */
  readonly unanswered: number
  /** Methods of the lists that are others since. */
  readonly changed: readonly string[]
  /** False when the new process does not offer all that the client was told. */
  readonly fits: boolean
}

/** A line on stdin or stdout that is no JSON object or array. It breaks many clients. */
export interface NoiseRecord extends Observed {
  readonly type: 'noise'
  readonly direction: Direction
  readonly text: string
  readonly frameEnd?: FrameEnd
  /** Base64 of the line, when it is not valid UTF-8. */
  readonly bytes?: string
}

/** A line (or a long piece of one) that the server wrote to stderr. */
export interface StderrRecord extends Observed {
  readonly type: 'stderr'
  readonly text: string
  readonly frameEnd?: FrameEnd
  readonly bytes?: string
}

/** An HTTP exchange, or what is left of one, that carried no JSON-RPC in its response. */
export interface HttpRecord extends Observed {
  readonly type: 'http'
  readonly exchange: number
  readonly conversation?: string
  readonly method: string
  /** With the query; secrets replaced. */
  readonly path: string
  /** Unless a message of the request has them. */
  readonly requestHeaders?: HttpHeaders
  /** Of a request that was no JSON-RPC, as far as it is text; secrets replaced. */
  readonly requestBody?: string
  /** Absent when no response came. */
  readonly status?: number
  readonly headers?: HttpHeaders
  /** Unless a message of the response has them. */
  readonly phases?: HttpPhases
  /** Of the response, where it is text; secrets replaced. */
  readonly body?: string
  /** Base64 of a body that is no text. */
  readonly bytes?: string
  /** Bytes of the body, as they were on the wire. */
  readonly sizeBytes?: number
  /** Of an event that is no message, such as `endpoint` or one with nothing but an id; its data is the body. */
  readonly sse?: SseContext
  /** Why the exchange ended before its time, or why its body is not here. */
  readonly why?: string
}

/** Something crossed the wire and is not on the tape. */
export interface GapRecord extends Observed {
  readonly type: 'gap'
  /** Messages (or other lines) of the two directions that are missing. */
  readonly lost: number
  /** Lines of stderr that are missing. */
  readonly lostStderr?: number
  /** Bytes of the messages and lines that are missing, as they were on the wire. */
  readonly lostBytes?: number
  readonly why: string
  /** For one message that was too big to record. */
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

/** Last line of a tape, or of a segment of it. Without it the recording was cut off. */
export interface EndRecord extends RecordBase {
  readonly type: 'end'
  readonly t: string
  /**
   * The server's exit status; 128 + signal number after a signal, 127 when it could not be started. Null
   * when the line does not say: some recorders write none after a signal.
   */
  readonly exitCode: number | null
  /** Null when the line does not say. */
  readonly durationMs: number | null
  readonly wiretape?: TapeClosing
}

export interface TapeClosing {
  /** Messages in this file. */
  readonly messages: number
  /** JSON-RPC errors and results of tools that failed in this file; absent where nobody counted them. */
  readonly errors?: number
  /** True when the recording goes on in the next segment. */
  readonly rotated?: true
  /** Signal that ended the server. */
  readonly signal?: string
  /** Why the server could not be started. */
  readonly error?: string
  /** Which rules of redaction fired how often in the whole recording; absent when none did. */
  readonly redacted?: readonly RuleCount[]
  /** True when the line was added later, by `recover`. */
  readonly recovered?: true
  readonly extra?: JsonMembers
}

/** How often a rule of redaction fired. */
export interface RuleCount {
  readonly rule: string
  readonly count: number
}

/** A line of a type that this version does not know. It survives a read and a write. */
export interface UnknownRecord {
  readonly type: 'unknown'
  /** The line's own `type`. */
  readonly name: string
  /** The whole line, exact. */
  readonly text: string
}

/** Messages of one frame; each of its parts is a row. */
export type FrameRecord = MessageRecord | HeldRecord

/** A record that is a row by itself. Its type is the kind of that row. */
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
