import type { Agent } from 'node:http'
import type { Socket } from 'node:net'
import type { Breaker } from './http-event.js'
import { closeAgent } from './upstream-request.js'

/** What a connection has to know about an exchange that runs on it. */
export interface Breakable {
  /** Ends it early; does nothing when it is over. */
  fail(by: Breaker, why: string): void
}

/** The socket of a client, its upstream connection, and the exchanges that run on both. */
export interface ClientConnection {
  readonly number: number
  readonly agent: Agent
  readonly running: Set<Breakable>
  /** Ends all that runs, and both connections at once. */
  destroy(by: Breaker, why: string): void
}

export function createClientConnection(number: number, socket: Socket, agent: Agent): ClientConnection {
  const running = new Set<Breakable>()
  let over = false
  function destroy(by: Breaker, why: string): void {
    if (over) return
    over = true
    for (const exchange of running) exchange.fail(by, why)
    closeAgent(agent)
    socket.destroy()
  }
  const onGone = (): void => destroy('client', 'it closed its connection')
  socket.once('close', onGone)
  // The client has sent its last byte. Whoever ends a stream this way wants no more of it, and the upstream
  // has to know at once; Node's own servers answer nothing more either.
  socket.once('end', () => {
    if (running.size > 0) onGone()
  })
  return { number, agent, running, destroy }
}

/**
 * Closes a client's connection under an answer that is not complete, after what was given to it.
 *
 * @param framed whether the client can see that something is missing; when it cannot, the connection is reset
 */
export function breakOff(socket: Socket, framed: boolean): void {
  if (socket.destroyed) return
  if (framed) return socket.destroySoon()
  if (socket.writableLength === 0) socket.resetAndDestroy()
  else socket.once('drain', () => socket.resetAndDestroy())
}
