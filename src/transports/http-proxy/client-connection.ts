import type { Agent } from 'node:http'
import type { Socket } from 'node:net'
import { createBag, type Bag } from './bag.js'
import type { Breaker } from './http-event.js'
import { closeAgent } from './upstream-request.js'

/** Upstreams that one client connection keeps connections to. */
const mostAgents = 16

/** What a connection has to know about an exchange that runs on it. */
export interface Breakable {
  /** Ends it early; does nothing when it is over. */
  fail(by: Breaker, why: string): void
}

/** The socket of a client, its upstream connections, and the exchanges that run on them. */
export interface ClientConnection {
  readonly number: number
  /** Holds the connection to this upstream that belongs to the client's. */
  agentFor(upstream: URL): Agent
  readonly running: Bag<Breakable>
  /** Ends all that runs, and both connections at once. */
  destroy(by: Breaker, why: string): void
}

export function createClientConnection(
  number: number,
  socket: Socket,
  createAgent: (upstream: URL) => Agent,
): ClientConnection {
  const agents = new Map<string, Agent>()
  const running = createBag<Breakable>()
  let over = false
  function destroy(by: Breaker, why: string): void {
    if (over) return
    over = true
    running.each((exchange) => exchange.fail(by, why))
    for (const agent of agents.values()) closeAgent(agent)
    socket.destroy()
  }
  const onGone = (): void => destroy('client', 'closed the connection')
  socket.once('close', onGone)
  // The client has sent its last byte. Whoever ends a stream this way wants no more of it, and the upstream
  // has to know at once; Node's own servers answer nothing more either.
  socket.once('end', () => {
    if (running.size > 0) onGone()
  })
  return {
    number,
    agentFor(upstream) {
      const known = agents.get(upstream.origin)
      if (known) return known
      if (agents.size >= mostAgents) closeIdle(agents)
      const agent = createAgent(upstream)
      agents.set(upstream.origin, agent)
      return agent
    },
    running,
    destroy,
  }
}

function closeIdle(agents: Map<string, Agent>): void {
  for (const [origin, agent] of agents) {
    if (Object.keys(agent.sockets).length > 0 || Object.keys(agent.requests).length > 0) continue
    agents.delete(origin)
    closeAgent(agent)
  }
}

/**
 * Closes a client's connection under an answer that is not complete, after what was given to it.
 *
 * @param framed whether the client can see that something is missing; when it cannot, the connection is reset
 */
export function breakOff(socket: Socket, framed: boolean): void {
  if (socket.destroyed) return
  if (framed) return socket.destroySoon()
  if (socket.writableLength === 0) reset(socket)
  else socket.once('drain', () => reset(socket))
}

/** Inside TLS an end without its notice says the same, and a reset is not to be had. */
function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy()
  else socket.resetAndDestroy()
}
