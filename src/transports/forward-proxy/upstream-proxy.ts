import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { asUrlHost } from '../http-proxy/admission.js'
import { failureWords } from '../http-proxy/failure-words.js'
import type { UpstreamTrust } from '../http-proxy/upstream-request.js'
import type { Dialled } from './dialled.js'
import type { Target } from './target.js'

/** Another proxy, through which servers are reached. */
export interface UpstreamProxy {
  readonly hostname: string
  readonly port: number
  /** The connection to the proxy uses TLS. */
  readonly secure: boolean
  /** Value of `Proxy-Authorization`. */
  readonly authorization?: string
}

/** Longest head of a response to CONNECT. */
const longestHead = 64 * 1024
const patienceMs = 60_000

/** A connection to the proxy itself. */
export function openProxy({ hostname, port, secure }: UpstreamProxy, trust: UpstreamTrust): Socket {
  const place = { host: hostname, port }
  if (!secure) return net.connect({ ...place, noDelay: true, allowHalfOpen: true })
  return tls.connect({
    ...place,
    ...(net.isIP(hostname) === 0 && { servername: hostname }),
    rejectUnauthorized: !trust.insecure,
    ...(trust.secureContext && { secureContext: trust.secureContext }),
  })
}

/** A tunnel through the proxy (RFC 9110, 9.3.6). */
export function connectByProxy(
  proxy: UpstreamProxy,
  { hostname, port }: Target,
  trust: UpstreamTrust,
  { onConnected, onFailed }: Dialled,
): Socket {
  const socket = openProxy(proxy, trust)
  const authority = `${asUrlHost(hostname)}:${port}`
  let received = Buffer.alloc(0)
  let settled = false

  function fail(why: string): void {
    if (settled) return
    settled = true
    socket.destroy()
    onFailed(`the proxy ${asUrlHost(proxy.hostname)}:${proxy.port}: ${why}`)
  }

  function onData(chunk: Buffer): void {
    received = Buffer.concat([received, chunk])
    const end = received.indexOf('\r\n\r\n')
    if (end === -1) {
      if (received.length > longestHead) fail('its response to CONNECT is not HTTP')
      return
    }
    const [, status, reason = ''] =
      /^HTTP\/1\.[01] (\d{3})([^\r\n]*)/.exec(received.toString('latin1', 0, end)) ?? []
    if (status === undefined) return fail('its response to CONNECT is not HTTP')
    if (!status.startsWith('2')) return fail(`it refused with ${status}${reason}`)
    settled = true
    socket.off('data', onData)
    socket.setTimeout(0)
    socket.pause()
    const rest = received.subarray(end + 4)
    if (rest.length > 0) socket.unshift(rest)
    onConnected(socket)
  }

  socket.once(proxy.secure ? 'secureConnect' : 'connect', () => {
    const authorization =
      proxy.authorization === undefined ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`)
  })
  socket.on('data', onData)
  socket.on('error', (error) => fail(failureWords(error)))
  socket.once('end', () => fail('it closed the connection'))
  socket.once('close', () => fail('it closed the connection'))
  socket.setTimeout(patienceMs, () => fail('it does not respond'))
  return socket
}
