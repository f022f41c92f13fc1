import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { failureWords } from '../http-proxy/failure-words.js'
import type { UpstreamTrust } from '../http-proxy/upstream-request.js'
import type { Target } from './target.js'

/** As patient as Node's own clients with a network whose one address family leads nowhere. */
const addressFamilyMs = 2_000

/** Connects to where a tunnel leads. Its errors are `onFailed`'s until it is connected, and nobody's later. */
export function connectTo(
  { hostname, port }: Target,
  onConnected: (upstream: Socket) => void,
  onFailed: (why: string) => void,
): Socket {
  const upstream = net.connect({
    host: hostname,
    port,
    noDelay: true,
    allowHalfOpen: true,
    autoSelectFamilyAttemptTimeout: addressFamilyMs,
  })
  return settle(upstream, 'connect', onConnected, onFailed)
}

/** The same in TLS. */
export function connectSecurely(
  { hostname, port }: Target,
  { insecure, secureContext }: UpstreamTrust,
  onConnected: (upstream: Socket) => void,
  onFailed: (why: string) => void,
): Socket {
  const upstream = tls.connect({
    host: hostname,
    port,
    ...(net.isIP(hostname) === 0 && { servername: hostname }),
    rejectUnauthorized: !insecure,
    ...(secureContext && { secureContext }),
    ALPNProtocols: ['http/1.1'],
  })
  upstream.setNoDelay(true)
  return settle(upstream, 'secureConnect', onConnected, onFailed)
}

function settle(
  upstream: Socket,
  event: 'connect' | 'secureConnect',
  onConnected: (upstream: Socket) => void,
  onFailed: (why: string) => void,
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

/** Carries bytes both ways and looks at none. A slow side slows the other; an end is passed on as an end. */
export function splice(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => undefined)
    from.once('close', () => {
      if (from.readableEnded) to.destroySoon()
      else to.destroy()
    })
    from.pipe(to)
  }
}
