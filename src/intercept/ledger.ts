import type { Direction, RestartFacts } from '../model/index.js'
import type { MirroredArgument } from '../wire/index.js'
import type { Decision } from './decision.js'

/** Position of a frame in the traffic that the recorder sees. */
export type FramePlace =
  /** The frame of the channel that ends at this byte offset, line end included. */
  | { readonly channel: 'in' | 'out'; readonly endOffset: number; readonly sizeBytes: number }
  /** The next message of that side of an HTTP exchange. */
  | { readonly exchange: number; readonly direction: Direction }

/** Sent bytes, for tracking delivery. */
export interface Sent {
  readonly sizeBytes: number
  /** Bytes passed to the destination so far, including these. 0 if not counted. */
  readonly endOffset: number
}

export const unsent: Sent = { sizeBytes: 0, endOffset: 0 }

/** An event at the gate, for the tape. */
export type GateEntry =
  /** The decision about a frame, entered before the frame's last byte. */
  | {
      readonly kind: 'judge'
      readonly place: FramePlace
      readonly id: string
      readonly decision: Decision
      /** Bytes that were forwarded at once. 0 if not counted. */
      readonly sizeBytes: number
      /** The frame was made by a person or a rule. */
      readonly isOurs?: boolean
    }
  /** The decision about a held frame. */
  | {
      readonly kind: 'settle'
      readonly id: string
      readonly decision: Decision
      readonly heldMs: number
      readonly sent: Sent
    }
  /** An injected message was sent. */
  | {
      readonly kind: 'inject'
      readonly id: string
      readonly direction: Direction
      readonly text: string
      readonly rule?: string | undefined
      readonly sent: Sent
      /** Over HTTP. */
      readonly exchange?: number
      readonly conversation?: string
    }
  | {
      readonly kind: 'note'
      readonly text: string
      readonly about?: string
      readonly restart?: RestartFacts
    }

/** The recorder's knowledge of tools. */
export interface ToolBook {
  /**
   * Arguments of a tool that headers mirror (2026-07-28), by its server's newest list. Undefined for a tool that was
   * never listed. Never rejects.
   */
  toolHeaders(tool: string): Promise<readonly MirroredArgument[] | undefined>
}

/** Receives entries for the tape, in the order of events. */
export interface Ledger {
  enter(entry: GateEntry): void
}
