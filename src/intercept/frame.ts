import type { Direction, Transport } from '../model/index.js'
import type { FrameText } from '../wire/index.js'
import type { Decision } from './decision.js'

/**
 * Carries out the decision about a stopped frame. Called once, and never during the offer.
 *
 * @param decision `forward`, `drop` or `disconnect`. A dropped frame has a `text` if its receiver's ids differ.
 */
export type Settle = (id: string, decision: Decision, heldMs: number) => void

/** A frame that arrived at the gate. */
export interface Offer extends FrameText {
  readonly direction: Direction
  readonly transport: Transport
  /** Name of the conversation; '' if there is only one. */
  readonly conversation: string
  /** Number of the HTTP exchange. */
  readonly exchange?: number
  readonly wallMs: number
  readonly settle: Settle
  /** Original text, if the frame names a request that has another id on the other side. */
  readonly arrived?: string
}

/**
 * The gate's decision about an offer: `forward`, now, or `hold` until it is settled. Undefined: forward it unchanged.
 * `id` is the id of its first message.
 */
export type Judgement = (Decision & { readonly id: string }) | undefined
