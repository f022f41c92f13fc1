import type { Direction, RestartFacts } from '../model/index.js'
import type { MirroredArgument } from '../wire/index.js'

/** Where a frame stands among the bytes that the recording side sees. */
export type FramePlace =
  /** The frame of that channel which ends at that byte of all that came, its line end included. */
  | { readonly channel: 'in' | 'out'; readonly endOffset: number; readonly sizeBytes: number }
  /** The next message of that side of an HTTP exchange. */
  | { readonly exchange: number; readonly direction: Direction }

/** What went on, for the account of what was delivered. */
export interface Sent {
  readonly sizeBytes: number
  /** Bytes handed to the destination so far, these included. 0 where nobody counts. */
  readonly endOffset: number
}

/** What becomes of a frame, told before its last byte is. */
export type FrameVerdict =
  | { readonly kind: 'hold'; readonly rule?: string }
  /** A person or a rule made it. */
  | { readonly kind: 'ours'; readonly rule?: string }
  /** It was passed on at once, with another text perhaps. */
  | {
      readonly kind: 'pass'
      readonly text?: string
      /** Of a batch that lost elements: the places, before, of those that are left. */
      readonly kept?: readonly number[]
      readonly rule?: string
      readonly sizeBytes: number
    }

/** What was decided at the gate, for the tape. */
export type GateEntry =
  | {
      readonly kind: 'verdict'
      readonly place: FramePlace
      readonly id: string
      readonly verdict: FrameVerdict
    }
  /** A held frame went on. */
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
  /** A message of ours was sent. */
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

/** What the recording side knows of tools. */
export interface ToolBook {
  /**
   * Which arguments of a tool headers repeat (2026-07-28), by the newest list of its server. Undefined for a tool that was
   * never listed. Never rejects.
   */
  toolHeaders(tool: string): Promise<readonly MirroredArgument[] | undefined>
}

/** Takes what has to be on the tape, in the order in which it happened. */
export interface Ledger {
  enter(entry: GateEntry): void
}
