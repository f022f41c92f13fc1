import type { EventPassage, Passing, RawHeaders } from '../wire/index.js'

/** Interface between an HTTP proxy and the gate. */

export interface Head {
  readonly exchange: number
  readonly connection: number
  /** Name of the conversation, as recorded. */
  readonly conversation: string
  readonly path: string
  readonly headers: RawHeaders
}

export type Side = 'request' | 'answer'

export interface Post {
  readonly connection: number
  readonly conversation: string
  readonly path: string
  readonly headers: RawHeaders
}

export interface Stream {
  readonly head: Head
  /** Carries all responses of its conversation. */
  readonly isLegacy: boolean
  inject(text: string): boolean
}

/** The response to a POST from wiretape. */
export interface Posted {
  readonly status: number
  readonly contentType: string
  readonly body: Uint8Array | undefined
}

export interface HttpLanes {
  setGatekeeper(keeper: HttpGatekeeper | undefined): void
  readonly talks: {
    posts(): readonly Post[]
    streams(): readonly Stream[]
  }
  post(like: Post, headers: RawHeaders, body: Uint8Array, begins: (exchange: number) => void): Promise<Posted>
}

export interface HttpGatekeeper {
  wants(head: Head, side: Side): boolean
  mustWait(head: Head, goOn: () => void): boolean
  request(head: Head, body: Uint8Array): Promise<Passing> | undefined
  answer(head: Head, body: Uint8Array): Promise<Passing> | undefined
  event(head: Head, data: string, passage: EventPassage): boolean
  unseen(head: Head, side: Side, why: string): void
  lost(head: Head, why: string): void
}
