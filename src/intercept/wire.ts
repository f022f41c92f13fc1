import type { Direction } from '../model/index.js'

/** A message of ours. */
export interface Injection {
  readonly id: string
  readonly direction: Direction
  readonly text: string
  readonly conversation?: string
  readonly rule?: string
  /** The request that it takes after, with headers in turns of names and values; for what only those say. */
  readonly like?: { readonly text: string; readonly headers: readonly string[] }
}

/** A transport that can be gated. */
export interface GatedWire {
  /** Whether frames have to be offered. Takes effect at the next frame of each direction. */
  setGated(on: boolean): void
  /** What the conversation is called in which something is injected; '' where there is only one. */
  conversationFor(injection: Pick<Injection, 'direction' | 'conversation'>): string | undefined
  /**
   * Sends a message. A transport on which an answer comes back to whoever asked (HTTP) gives it; on others it passes the
   * gate.
   *
   * @throws GateFault `no-peer`
   */
  inject(injection: Injection): {
    readonly answer?: Promise<string>
    /** Rejects when it turns out later that it could not be sent, with a GateFault. */
    readonly failure?: Promise<never>
  }
}
