import type { RawHeaders } from './http-event.js'

/** Whose exchange it is. */
export interface ExchangeHead {
  readonly exchange: number
  readonly connection: number
  readonly method: string
  /** As the client sent it. */
  readonly path: string
  readonly headers: RawHeaders
}

/** How something whole goes on. */
export type Passing =
  | { readonly kind: 'forward'; readonly body?: Uint8Array; readonly headers?: RawHeaders }
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
  /** False while nothing has to be shown. May change at any time. */
  readonly active: boolean
  /** A request with its whole body. Undefined: it passes as it is. */
  request(head: ExchangeHead, body: Uint8Array): Promise<Passing> | undefined
  /** An answer with its whole body, its content coding taken away. */
  answer(head: ExchangeHead, body: Uint8Array): Promise<Passing> | undefined
  /** An event with data. True when it was taken over: `passage` is called then. */
  event(head: ExchangeHead, data: string, passage: EventPassage): boolean
  /** The exchange ended early; nothing of it can go on. */
  lost(exchange: number, why: string): void
}
