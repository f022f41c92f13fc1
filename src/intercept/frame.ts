import type { Direction, Transport } from '../model/index.js'
import type { FrameText } from '../wire/index.js'

/** How a message goes on. */
export interface Forwarded {
  /** What goes on in its place. */
  readonly text?: string
  /** Of a batch that lost elements: the places, before, of those that are left. */
  readonly kept?: readonly number[]
  readonly heldMs: number
  readonly rule?: string
  /** How often it goes on besides. */
  readonly copies?: number
  /** JSON texts that its sender gets, for elements of a batch that do not go on. */
  readonly answers?: readonly string[]
}

/** How a frame that was stopped goes on. One of the two is called, once, and never during the offer. */
export interface Passage {
  forward(id: string, how: Forwarded): void
  /**
   * @param how.answers JSON texts that its sender gets in the other side's place
   * @param how.disconnect the connection that it came on is closed, and nobody gets an answer
   */
  drop(
    id: string,
    how: {
      readonly why: string
      readonly rule?: string
      readonly answers?: readonly string[]
      readonly disconnect?: boolean
      /** What it says in the words of its receiver, where those differ. */
      readonly text?: string
    },
  ): void
}

/** A frame that came, at the gate. */
export interface Offer extends FrameText {
  readonly direction: Direction
  readonly transport: Transport
  /** Whose talk it is; '' where there is only one. */
  readonly conversation: string
  /** Number of the HTTP exchange. */
  readonly exchange?: number
  readonly wallMs: number
  readonly passage: Passage
  /** Its text as it came, where it speaks of a request that goes by another id on the other side. */
  readonly arrived?: string
}

/** What the gate says to an offer. */
export type Verdict =
  /** It goes on as it is. */
  | undefined
  /** It goes on now, in another form or more than once. */
  | {
      readonly kind: 'pass'
      readonly id: string
      readonly text?: string
      readonly kept?: readonly number[]
      readonly rule?: string
      readonly copies: number
      readonly answers: readonly string[]
    }
  /** It waits until its passage is called. */
  | { readonly kind: 'hold'; readonly id: string; readonly rule?: string }
