import type { Envelope, Transport } from '../model/index.js'
import type { MirroredHeaders } from '../link/index.js'
import type { CallIndex } from './call-index.js'
import type { Script } from './script.js'

/** The end of a recorded stdio server that ended by itself. */
export interface RecordedDeath {
  /** The last call that awaited a response. */
  readonly call: number
  /** Its status; 128 + the signal's number after a signal. */
  readonly exitCode: number
  readonly signal?: string
}

/** A recording prepared for serving. */
export interface Play {
  readonly script: Script
  readonly calls: CallIndex
  /** Conversations opened by a client, in order: each new client gets the next one. */
  readonly openings: readonly number[]
  readonly transport: Transport
  readonly url: string | null
  /** The recorded server named its sessions; undefined if the recording does not show it. */
  readonly sessions: boolean | undefined
  /** A conversation began with `initialize`. */
  readonly opened: boolean
  /** Every GET for a stream was answered with 405. */
  readonly noStream: boolean
  /** There were requests of 2025 and before. */
  readonly legacy: boolean
  /** There were requests of 2026-07-28 and later. */
  readonly modern: boolean
  /** The server accepted POSTs of legacy clients without a fitting `Accept` or `Content-Type`. */
  readonly lenient: { readonly accept: boolean; readonly contentType: boolean }
  /** Required headers in requests of 2026-07-28; undefined where the recorded server did not check them. */
  readonly mirrored: MirroredHeaders | undefined
  /** The recorded server ended before its client, instead of responding to a call. */
  readonly death: RecordedDeath | undefined
  /** Tags of redacted values that the client sent. The mock sends stand-ins for them, which the client can return. */
  readonly saidTags: ReadonlySet<string>
  /** Facts that the recording shows about the server. */
  readonly seen: {
    readonly server: Envelope['peer']
    /** Protocol versions used by clients. */
    readonly versions: readonly string[]
    /** Methods of the server's notifications. */
    readonly notices: readonly string[]
  }
  /** Name of a conversation in the recording; undefined where it has only one. */
  conversationName(number: number): string | undefined
  readonly counts: { readonly sessions: number; readonly client: number; readonly server: number }
  close(): void
}
