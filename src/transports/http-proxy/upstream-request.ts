import http from 'node:http'
import https from 'node:https'
import type { SecureContext } from 'node:tls'
import { asSocketHost } from './admission.js'
import type { RawHeaders } from './http-event.js'
import { endToEnd, replaceValues, saysClose, transferCodings, valuesOf } from './hop-headers.js'

/** Servers that take long headers must still get them through us. */
export const maxHeaderBytes = 256 * 1024

/** A family that does not answer is left for the other one after this time; Node's 250 ms give up on slow networks. */
const addressFamilyMs = 2_000

/** Where a request is sent. */
export interface UpstreamRoute {
  /** Its origin counts. */
  readonly upstream: URL
  readonly agent: http.Agent
  /** Path and query. */
  readonly path: string
  /** In the place of the request's own `Host`; undefined leaves that. */
  readonly host?: string
  /** The answer has to be readable: no content coding is asked for. */
  readonly plain?: boolean
  /** Headers of ours, for a proxy on the way. */
  readonly added?: RawHeaders
}

/** What is sent: a request as it came, or one like it. */
export interface OutgoingRequest {
  readonly method?: string | undefined
  readonly rawHeaders: RawHeaders
}

/** How upstreams are connected to. */
export interface UpstreamTrust {
  /** Accepts any certificate. */
  readonly insecure: boolean
  /** Whom to believe instead of Node's own roots. */
  readonly secureContext?: SecureContext
}

/**
 * The connection to the upstream that belongs to one client connection. No two clients share one, so what a
 * server ties to a connection, and what a client expects when it uses one again, holds as it would without us.
 */
export function createUpstreamAgent(upstream: URL, trust: UpstreamTrust): http.Agent {
  const options = {
    keepAlive: true,
    maxSockets: 1,
    noDelay: true,
    autoSelectFamilyAttemptTimeout: addressFamilyMs,
  }
  if (upstream.protocol !== 'https:') return new http.Agent(options)
  const { insecure, secureContext } = trust
  return new https.Agent({
    ...options,
    rejectUnauthorized: !insecure,
    ...(secureContext && { secureContext }),
  })
}

/** Ends the agent's connections, those too that are being made or that a request still waits for. */
export function closeAgent(agent: http.Agent): void {
  agent.destroy()
  agent.on('free', (socket) => socket.destroy())
}

/** Neither a length nor chunks: the request has no body, and says nothing about one. */
function isBodiless(request: OutgoingRequest): boolean {
  return (
    transferCodings(request.rawHeaders) === undefined &&
    valuesOf(request.rawHeaders, 'content-length').length === 0
  )
}

/** Makes the request that goes on; nothing is sent yet. Throws when Node refuses what it would have to send. */
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
  // None are dropped, however many there are.
  onward.maxHeadersCount = 0
  return onward
}

/** A POST without a body is sent in chunks otherwise, which adds a header; Node decides it by this property. */
class BodilessRequest extends http.ClientRequest {}
Object.defineProperty(BodilessRequest.prototype, 'useChunkedEncodingByDefault', {
  get: () => false,
  set() {},
})
