import type { Agent } from 'node:http'
import type { Socket } from 'node:net'
import { createBag, type Bag } from './bag.js'
import type { Breaker } from './http-event.js'
import { OneConnectionAgent } from './one-connection.js'
import { closeAgent } from './upstream-request.js'

/** Upstreams to which one client connection keeps connections. */
const mostAgents = 16

/** An exchange that runs on a connection. */
export interface Breakable {
  /** Ends the exchange early; has no effect once it is over. */
  fail(by: Breaker, why: string): void
}

/** The socket of a client, its upstream connections, and its running exchanges. */
export interface ClientConnection {
  readonly number: number
  /** The agent whose one connection to this upstream belongs to this client connection. */
  agentFor(upstream: URL): Agent
  readonly running: Bag<Breakable>
  /** Ends all running exchanges, and the client's and the upstream connections, at once. */
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
  // The client has half-closed the connection. A client that ends a stream this way wants no more of it, and
  // the upstream must learn that at once. Node's own servers send no response after this either.
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
    if (isUsed(agent)) continue
    agents.delete(origin)
    closeAgent(agent)
  }
}

function isUsed(agent: Agent): boolean {
  if (agent instanceof OneConnectionAgent && agent.isWaiting()) return false
  return Object.keys(agent.sockets).length > 0 || Object.keys(agent.requests).length > 0
}

/**
 * Closes a client's connection in the middle of a response, after sending what was written.
 *
 * @param framed whether the client can see that bytes are missing; if not, the connection is reset
 */
export function breakOff(socket: Socket, framed: boolean): void {
  if (socket.destroyed) return
  if (framed) return socket.destroySoon()
  if (socket.writableLength === 0) reset(socket)
  else socket.once('drain', () => reset(socket))
}

/** Inside TLS, closing without close_notify has the same meaning, and a reset is not available. */
function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy()
  else socket.resetAndDestroy()
}
