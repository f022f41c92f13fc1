import http from 'node:http'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { failureWords } from '../http-proxy/failure-words.js'
import {
  createUpstreamAgent,
  type UpstreamRoute,
  type UpstreamTrust,
} from '../http-proxy/upstream-request.js'
import { targetOfUrl, type Target } from './target.js'
import { connectByProxy, openProxy, type UpstreamProxy } from './upstream-proxy.js'
import type { Dialled } from './dialled.js'

/** As long as Node's own clients wait on a network where one address family does not work. */
const addressFamilyMs = 2_000

/** Connections to servers, through another proxy where one is configured. */
export interface Dial {
  /** @returns the socket of the connection; destroying it ends the attempt */
  connect(target: Target, dialled: Dialled): Socket
  /** The same over TLS. */
  connectSecurely(target: Target, dialled: Dialled): Socket
  createAgent(upstream: URL): http.Agent
  /** The request target for a path on connections of such an agent. */
  wayTo(upstream: URL, path: string): Pick<UpstreamRoute, 'path' | 'added'>
}

export interface DialOptions {
  readonly trust: UpstreamTrust
  readonly proxyFor: (target: Target) => UpstreamProxy | undefined
  /** A connection to a proxy is being opened. */
  readonly onSocket: (socket: Socket) => void
}

export function createDial({ trust, proxyFor, onSocket }: DialOptions): Dial {
  function connect(target: Target, dialled: Dialled): Socket {
    const proxy = proxyFor(target)
    if (proxy) return connectByProxy(proxy, target, trust, dialled)
    const { hostname, port } = target
    const upstream = net.connect({
      host: hostname,
      port,
      noDelay: true,
      allowHalfOpen: true,
      autoSelectFamilyAttemptTimeout: addressFamilyMs,
    })
    return settle(upstream, 'connect', dialled)
  }

  function connectSecurely(target: Target, dialled: Dialled): Socket {
    const { hostname, port } = target
    const { insecure, secureContext } = trust
    const options = {
      host: hostname,
      port,
      ...(net.isIP(hostname) === 0 && { servername: hostname }),
      rejectUnauthorized: !insecure,
      ...(secureContext && { secureContext }),
      ALPNProtocols: ['http/1.1'],
    }
    const secure = (socket?: Socket): Socket => {
      const upstream = tls.connect({ ...options, ...(socket && { socket }) })
      upstream.setNoDelay(true)
      return settle(upstream, 'secureConnect', dialled)
    }
    if (!proxyFor(target)) return secure()
    return connect(target, { onConnected: (socket) => void secure(socket), onFailed: dialled.onFailed })
  }

  function createAgent(upstream: URL): http.Agent {
    const target = targetOfUrl(upstream)
    const proxy = target && proxyFor(target)
    const agent = createUpstreamAgent(upstream, trust)
    if (!proxy) return agent
    const create: CreateConnection =
      upstream.protocol === 'http:'
        ? () => openProxy(proxy, trust)
        : (options, done) => {
            const raw = connect(target, {
              onConnected: (socket) =>
                done(null, tls.connect({ ...options, socket, ALPNProtocols: ['http/1.1'] })),
              onFailed: (why) => done(new Error(why)),
            })
            onSocket(raw)
            return undefined
          }
    return Object.assign(agent, { createConnection: create })
  }

  return {
    connect,
    connectSecurely,
    createAgent,
    wayTo(upstream, path) {
      const target = upstream.protocol === 'http:' ? targetOfUrl(upstream) : undefined
      const proxy = target && proxyFor(target)
      if (!proxy) return { path }
      const { authorization } = proxy
      return {
        // RFC 9112, 3.2.2: a request to a proxy has the whole URL as its target.
        path: upstream.origin + (path === '*' ? '' : path),
        ...(authorization !== undefined && { added: ['Proxy-Authorization', authorization] }),
      }
    },
  }
}

type CreateConnection = (
  options: tls.ConnectionOptions,
  done: (error: Error | null, socket?: Socket) => void,
) => Socket | undefined

function settle(
  upstream: Socket,
  event: 'connect' | 'secureConnect',
  { onConnected, onFailed }: Dialled,
): Socket {
  let settled = false
  upstream.once(event, () => {
    settled = true
    onConnected(upstream)
  })
  upstream.on('error', (error) => {
    if (!settled) onFailed(failureWords(error))
    settled = true
  })
  return upstream
}
