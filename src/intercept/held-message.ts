import type { Offer } from './frame.js'

export type HeldReason = 'hold' | 'breakpoint' | 'rule' | 'order'
export type Outcome = 'forwarded' | 'edited' | 'dropped' | 'answered'
export type Cause = 'screen' | 'rule' | 'timeout' | 'detach' | 'passthrough' | 'order' | 'end'

/** A message that waits. */
export interface HeldMessage {
  readonly id: string
  readonly offer: Offer
  reason: HeldReason
  /** The rule, or the breakpoint's filter. */
  readonly by?: string
  readonly rule?: string
  /** What a rule made of it: goes on in its place unless a person decides otherwise. */
  readonly text?: string
  /** Of a batch that lost elements: the places, before, of those that are left. */
  readonly kept?: readonly number[]
  /** How often a rule wants it passed on besides. */
  readonly copies?: number
  /** What a rule answered of a batch: goes to its sender when the rest goes on, or does not. */
  readonly answers?: readonly string[]
  readonly sinceMs: number
  /** Milliseconds since the epoch at which it goes on by itself. */
  readonly untilMs?: number
  moot?: string
  /** What a rule has decided about it and does by itself, now or after its delay: nobody else need decide. */
  plan?: () => void
  /** Its time came while it stood behind another one: what happens to it when it is first. */
  due?: () => void
}

/** What the gate tells. */
export interface GateObserver {
  held(message: HeldMessage): void
  changed(message: HeldMessage): void
  released(message: HeldMessage, outcome: Outcome, cause: Cause, text?: string): void
}
