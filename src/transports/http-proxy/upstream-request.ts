import type { RawHeaders } from '../../wire/index.js'
import http from 'node:http'
import https from 'node:https'
import type { SecureContext } from 'node:tls'
import { asSocketHost } from './admission.js'
import { OneConnectionAgent } from './one-connection.js'
import { endToEnd, replaceValues, saysClose, transferCodings, valuesOf } from './hop-headers.js'

/** Servers that accept long headers must get them through the proxy too. */
export const maxHeaderBytes = 256 * 1024

/** Wait for one address family before trying the other. Node's default of 250 ms is too short on slow networks. */
const addressFamilyMs = 2_000

/** The destination of a request. */
export interface UpstreamRoute {
  /** Only its origin is used. */
  readonly upstream: URL
  readonly agent: http.Agent
  /** Path and query. */
  readonly path: string
  /** Replaces the request's own `Host`; undefined keeps it. */
  readonly host?: string
  /** Requests a response without content coding, because it has to be readable. */
  readonly plain?: boolean
  /** Our own headers, for a proxy in between. */
  readonly added?: RawHeaders
}

/** A received request, or a similar one of our own. */
export interface OutgoingRequest {
  readonly method?: string | undefined
  readonly rawHeaders: RawHeaders
}

/** Trust in upstream certificates. */
export interface UpstreamTrust {
  /** Accepts any certificate. */
  readonly insecure: boolean
  /** Trusted roots in place of Node's own. */
  readonly secureContext?: SecureContext
}

/**
 * The upstream connection of one client connection. Clients never share one, so that state which a server ties to a
 * connection, and the reuse that a client expects, work as without us.
 */
export function createUpstreamAgent(upstream: URL, trust: UpstreamTrust): http.Agent {
  const options = {
    keepAlive: true,
    maxSockets: 1,
    noDelay: true,
    autoSelectFamilyAttemptTimeout: addressFamilyMs,
  }
  if (upstream.protocol !== 'https:') return new OneConnectionAgent(options)
  const { insecure, secureContext } = trust
  return new https.Agent({
    ...options,
    rejectUnauthorized: !insecure,
    ...(secureContext && { secureContext }),
  })
}

/** Closes the agent's connections, including those that are being opened or still used by a request. */
export function closeAgent(agent: http.Agent): void {
  agent.destroy()
  agent.on('free', (socket) => socket.destroy())
}

/** Whether the request has neither a length nor chunks, and so no body. */
function isBodiless(request: OutgoingRequest): boolean {
  return (
    transferCodings(request.rawHeaders) === undefined &&
    valuesOf(request.rawHeaders, 'content-length').length === 0
  )
}

/** Creates the upstream request; nothing is sent yet. Throws when Node rejects its contents. */
export function openUpstreamRequest(
  request: OutgoingRequest,
  { upstream, agent, path, host, plain, added = [] }: UpstreamRoute,
): http.ClientRequest {
  const bodiless = isBodiless(request)
  const headers = endToEnd(request.rawHeaders)
  if (host !== undefined) replaceValues(headers, 'host', () => host)
  if (plain) replaceValues(headers, 'accept-encoding', () => 'identity')
  headers.push(...added)
  const codings = transferCodings(request.rawHeaders)
  if (codings !== undefined) headers.push('Transfer-Encoding', codings)
  if (saysClose(request.rawHeaders)) headers.push('Connection', 'close')
  const Request = bodiless ? BodilessRequest : http.ClientRequest
  const onward = new Request({
    agent,
    protocol: upstream.protocol,
    host: asSocketHost(upstream.hostname),
    port: upstream.port === '' ? null : upstream.port,
    method: request.method ?? 'GET',
    path,
    headers,
    maxHeaderSize: maxHeaderBytes,
  })
  // No headers are dropped, however many there are.
  onward.maxHeadersCount = 0
  return onward
}

/** Otherwise Node sends a POST without a body in chunks, which adds a header. This property decides it. */
class BodilessRequest extends http.ClientRequest {}
Object.defineProperty(BodilessRequest.prototype, 'useChunkedEncodingByDefault', {
  get: () => false,
  set() {},
})
