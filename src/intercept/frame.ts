import type { Direction, Transport } from '../model/index.js'
import type { FrameText } from '../wire/index.js'

/** How a held message is forwarded. */
export interface Forwarded {
  /** Replacement text. */
  readonly text?: string
  /** For a batch that lost elements: original indexes of the remaining ones. */
  readonly kept?: readonly number[]
  readonly heldMs: number
  readonly rule?: string
  /** Number of additional copies. */
  readonly copies?: number
  /** JSON texts of responses to the sender, for batch elements that are not forwarded. */
  readonly answers?: readonly string[]
}

/** Continuation of a stopped frame. One of the two is called, once, and never during the offer. */
export interface Passage {
  forward(id: string, how: Forwarded): void
  /**
   * @param how.answers JSON texts of responses to the sender, instead of the other side's
   * @param how.disconnect closes the connection the frame came on; no response is sent
   */
  drop(
    id: string,
    how: {
      readonly why: string
      readonly rule?: string
      readonly answers?: readonly string[]
      readonly disconnect?: boolean
      /** The frame's text with its receiver's ids, if they differ. */
      readonly text?: string
    },
  ): void
}

/** A frame that arrived at the gate. */
export interface Offer extends FrameText {
  readonly direction: Direction
  readonly transport: Transport
  /** Name of the conversation; '' if there is only one. */
  readonly conversation: string
  /** Number of the HTTP exchange. */
  readonly exchange?: number
  readonly wallMs: number
  readonly passage: Passage
  /** Original text, if the frame names a request that has another id on the other side. */
  readonly arrived?: string
}

/** The gate's decision about an offer. */
export type Verdict =
  /** Forward unchanged. */
  | undefined
  /** Forward now, changed or more than once. */
  | {
      readonly kind: 'pass'
      readonly id: string
      readonly text?: string
      readonly kept?: readonly number[]
      readonly rule?: string
      readonly copies: number
      readonly answers: readonly string[]
    }
  /** Hold until the passage is called. */
  | { readonly kind: 'hold'; readonly id: string; readonly rule?: string }
