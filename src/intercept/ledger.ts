import type { Direction, RestartFacts } from '../model/index.js'
import type { MirroredArgument } from '../wire/index.js'

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

/** Decision about a frame, entered before the frame's last byte. */
export type FrameVerdict =
  | { readonly kind: 'hold'; readonly rule?: string }
  /** Made by a person or a rule. */
  | { readonly kind: 'ours'; readonly rule?: string }
  /** Forwarded at once, possibly changed. */
  | {
      readonly kind: 'pass'
      readonly text?: string
      /** For a batch that lost elements: original indexes of the remaining ones. */
      readonly kept?: readonly number[]
      readonly rule?: string
      readonly sizeBytes: number
    }

/** A decision at the gate, for the tape. */
export type GateEntry =
  | {
      readonly kind: 'verdict'
      readonly place: FramePlace
      readonly id: string
      readonly verdict: FrameVerdict
    }
  /** A held frame was forwarded. */
  | {
      readonly kind: 'release'
      readonly id: string
      readonly heldMs: number
      readonly text?: string
      readonly kept?: readonly number[]
      readonly rule?: string
      readonly sent: Sent
    }
  | { readonly kind: 'drop'; readonly id: string; readonly why: string; readonly rule?: string }
  /** An injected message was sent. */
  | {
      readonly kind: 'inject'
      readonly id: string
      readonly direction: Direction
      readonly text: string
      readonly rule?: string
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
