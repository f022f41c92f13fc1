import type { RawHeaders } from './http-event.js'

/** Whose exchange it is. */
export interface ExchangeHead {
  readonly exchange: number
  readonly connection: number
  /** Whose talk it is, by the name that is recorded. */
  readonly conversation: string
  readonly method: string
  /** As the upstream gets it. */
  readonly path: string
  /** Of the upstream, where a proxy has many. */
  readonly origin?: string
  readonly headers: RawHeaders
}

/** How something whole goes on. */
export type Passing =
  | {
      readonly kind: 'forward'
      readonly body?: Uint8Array
      readonly headers?: RawHeaders
      /** Of a batch, what was answered here: JSON texts that its client gets with the upstream's answer. */
      readonly answers?: readonly string[]
    }
  /** It goes nowhere; its sender gets this instead. */
  | { readonly kind: 'answer'; readonly status: number; readonly body?: Uint8Array; readonly why: string }
  /** The connections are closed. */
  | { readonly kind: 'disconnect'; readonly why: string }

/** An event at the gate. One of the two is called once, unless it passes at once. */
export interface EventPassage {
  /** @param text what takes the place of its data */
  forward(text?: string): void
  drop(): void
  /** Sends an event of ours. */
  send(text: string): void
  disconnect(why: string): void
}

/**
 * Stops and changes what passes. Everything is shown before its end is told to whoever records.
 */
export interface Gatekeeper {
  /** Whether it has to be shown what that side of an exchange says. May change at any time. */
  wants(head: ExchangeHead, side: 'request' | 'answer'): boolean
  /** As much is held as may be: nothing more should be read until `goOn` is called, which it is once. */
  mustWait(head: ExchangeHead, goOn: () => void): boolean
  /** A request with its whole body, its content coding taken away. Undefined: it passes as it is. */
  request(head: ExchangeHead, body: Uint8Array): Promise<Passing> | undefined
  /** An answer with its whole body, its content coding taken away. */
  answer(head: ExchangeHead, body: Uint8Array): Promise<Passing> | undefined
  /** An event with data. True when it was taken over: `passage` is called then. */
  event(head: ExchangeHead, data: string, passage: EventPassage): boolean
  /** It wanted to see that, and it passed unseen all the same. @param why as a sentence about it */
  unseen(head: ExchangeHead, side: 'request' | 'answer', why: string): void
  /** The exchange ended early; nothing of it can go on. */
  lost(head: ExchangeHead, why: string): void
}
