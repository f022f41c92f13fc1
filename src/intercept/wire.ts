import type { Direction } from '../model/index.js'

/** An injected message. */
export interface Injection {
  readonly id: string
  readonly direction: Direction
  readonly text: string
  readonly conversation?: string
  readonly rule?: string | undefined
  /** The request it is derived from, with alternating header names and values, for values only headers hold. */
  readonly like?: { readonly text: string; readonly headers: readonly string[] }
}

/** A transport with a gate. */
export interface GatedWire {
  /** Whether frames must be offered. Takes effect at the next frame of each direction. */
  setGated(on: boolean): void
  /** Name of the conversation for an injection; '' if there is only one. */
  conversationFor(injection: Pick<Injection, 'direction' | 'conversation'>): string | undefined
  /**
   * Sends a message. On a transport that returns responses to their requester (HTTP), gives the response; on others,
   * the response passes the gate.
   *
   * @throws GateFault `no-peer`
   */
  inject(injection: Injection): {
    readonly answer?: Promise<string>
    /** Rejects with a GateFault if sending fails later. */
    readonly failure?: Promise<never>
  }
}
