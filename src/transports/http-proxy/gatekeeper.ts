import type { EventPassage, Passing, RawHeaders } from '../../wire/index.js'

/** The request line and the headers of an exchange, with its connection and conversation. */
export interface ExchangeHead {
  readonly exchange: number
  readonly connection: number
  /** The recorded name of the conversation. */
  readonly conversation: string
  readonly method: string
  /** The path that the upstream gets. */
  readonly path: string
  /** Origin of the upstream, where a proxy has many. */
  readonly origin?: string
  readonly headers: RawHeaders
}

/** Holds and changes messages. Each message is shown before its end is recorded. */
export interface Gatekeeper {
  /** Whether messages of this side must be shown. May change at any time. */
  wants(head: ExchangeHead, side: 'request' | 'answer'): boolean
  /** Whether no more can be held. Reading must then stop until `goOn` is called, which happens once. */
  mustWait(head: ExchangeHead, goOn: () => void): boolean
  /** A whole request body without its content coding. Undefined: it passes unchanged. */
  request(head: ExchangeHead, body: Uint8Array): Promise<Passing> | undefined
  /** A whole response body without its content coding. Undefined: it passes unchanged. */
  answer(head: ExchangeHead, body: Uint8Array): Promise<Passing> | undefined
  /** An event with data. True when the gatekeeper took it over: a method of `passage` is then called. */
  event(head: ExchangeHead, data: string, passage: EventPassage): boolean
  /** Something passed unseen although it was wanted. @param why a noun phrase for it */
  unseen(head: ExchangeHead, side: 'request' | 'answer', why: string): void
  /** The exchange ended early; nothing of it can be forwarded. */
  lost(head: ExchangeHead, why: string): void
}
