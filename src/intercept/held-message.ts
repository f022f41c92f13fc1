import type { Decision } from './decision.js'
import type { Offer } from './frame.js'

export type HeldReason = 'hold' | 'breakpoint' | 'rule' | 'order'
export type Outcome = 'forwarded' | 'edited' | 'dropped' | 'answered'
export type Cause = 'screen' | 'rule' | 'timeout' | 'detach' | 'passthrough' | 'order' | 'end'

/** A held message. */
export interface HeldMessage {
  readonly id: string
  readonly offer: Offer
  reason: HeldReason
  /** The rule, or the filter of the breakpoint. */
  readonly by?: string | undefined
  /** How it is forwarded unless a person decides otherwise: as rules changed it. */
  readonly decision: Decision
  readonly sinceMs: number
  /** When it is forwarded automatically, in milliseconds since the epoch. */
  readonly untilMs?: number
  moot?: string
  /** A rule's pending action, carried out now or after its delay; no other decision is needed. */
  plan?: () => void
  /** Action that came due while the message was blocked: carried out when it is first in line. */
  due?: () => void
}

/** Events of the gate. */
export interface GateObserver {
  held(message: HeldMessage): void
  changed(message: HeldMessage): void
  released(message: HeldMessage, outcome: Outcome, cause: Cause, text?: string): void
}
