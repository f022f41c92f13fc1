import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpPhases } from '../../model/index.js'

/** Measures the phases of an upstream request. One object per exchange, as there are thousands a second. */
export class PhaseClock {
  #lastMs = performance.now()
  #dnsMs: number | undefined
  #connectMs: number | undefined
  #tlsMs: number | undefined
  /** Whether the upstream accepted the connection. */
  reached = false

  /** Call when the request has its connection. */
  connection(request: ClientRequest, socket: Socket, isSecure: boolean): void {
    // Bytes already read belong to a previous exchange.
    if (socket.bytesRead > 0) this.reached = true
    else socket.once(isSecure ? 'secureConnect' : 'connect', () => (this.reached = true))
    if (request.reusedSocket) {
      this.#lastMs = performance.now()
      return
    }
    if (socket.connecting) {
      socket.once('lookup', () => (this.#dnsMs ??= this.#lap()))
      socket.once('connect', () => (this.#connectMs = this.#lap()))
    } else this.#connectMs = this.#lap()
    if (isSecure) socket.once('secureConnect', () => (this.#tlsMs = this.#lap()))
  }

  /** @param atMs arrival of the response head, by `performance.now()` */
  phases(atMs: number): HttpPhases {
    const waitMs = Math.max(0, atMs - this.#lastMs)
    if (this.#connectMs === undefined) return { waitMs }
    return {
      ...(this.#dnsMs !== undefined && { dnsMs: this.#dnsMs }),
      connectMs: this.#connectMs,
      ...(this.#tlsMs !== undefined && { tlsMs: this.#tlsMs }),
      waitMs,
    }
  }

  #lap(): number {
    const nowMs = performance.now()
    const tookMs = nowMs - this.#lastMs
    this.#lastMs = nowMs
    return tookMs
  }
}
