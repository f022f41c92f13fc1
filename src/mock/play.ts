import type { Envelope, Transport } from '../model/index.js'
import type { MirroredHeaders } from '../link/index.js'
import type { CallIndex } from './call-index.js'
import type { Script } from './script.js'

/** How a recorded stdio server ended by itself. */
export interface RecordedDeath {
  /** The last call that waited for an answer. */
  readonly call: number
  /** Its status; 128 + the signal's number after a signal. */
  readonly exitCode: number
  readonly signal?: string
}

/** A recording made ready to be played. */
export interface Play {
  readonly script: Script
  readonly calls: CallIndex
  /** Conversations that a client opened, in their order: a client that comes gets the next of them. */
  readonly openings: readonly number[]
  readonly transport: Transport
  readonly url: string | null
  /** The recorded server named its sessions; undefined where the recording cannot tell. */
  readonly sessions: boolean | undefined
  /** A conversation began with `initialize`. */
  readonly opened: boolean
  /** Every GET for a stream was answered with 405. */
  readonly noStream: boolean
  /** Requests of 2025 and before were seen. */
  readonly legacy: boolean
  /** Requests of 2026-07-28 and later were seen. */
  readonly modern: boolean
  /** POSTs of legacy clients that named no fitting `Accept` or `Content-Type` were taken. */
  readonly lenient: { readonly accept: boolean; readonly contentType: boolean }
  /** What headers of requests of 2026-07-28 have to say; undefined where the recorded server did not look at them. */
  readonly mirrored: MirroredHeaders | undefined
  /** The recorded server ended before its client did, instead of answering a call. */
  readonly death: RecordedDeath | undefined
  /** Tags of redacted values that the client has said: what it was told is given out so that it can be told again. */
  readonly saidTags: ReadonlySet<string>
  /** What shows what the server is. */
  readonly seen: {
    readonly server: Envelope['peer']
    /** Protocol versions that clients spoke. */
    readonly versions: readonly string[]
    /** Methods of its notifications. */
    readonly notices: readonly string[]
  }
  /** What the recording calls a conversation; undefined where it has only one. */
  conversationName(number: number): string | undefined
  readonly counts: { readonly sessions: number; readonly client: number; readonly server: number }
  close(): void
}
