import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { pairsOf } from '../http-proxy/hop-headers.js'
import type { Dial } from './dial.js'
import { splice } from './tunnel.js'
import type { Target } from './target.js'

/** The destination of a request that changes the protocol. */
export interface UpgradeRoute {
  readonly target: Target
  readonly path: string
  /** Replaces the request's own `Host`. */
  readonly host?: string
}

export function isWebSocket(request: IncomingMessage): boolean {
  return /\bwebsocket\b/i.test(request.headers.upgrade ?? '')
}

/** Forwards the request, then all bytes both ways: after the upgrade they are no longer HTTP. */
export function passUpgrade(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  { target, path, host }: UpgradeRoute,
  dial: Dial,
): Socket {
  const headers = pairsOf(request.rawHeaders)
    .filter(([name]) => !/^proxy-/i.test(name))
    .map(([name, value]) => [name, host !== undefined && /^host$/i.test(name) ? host : value] as const)
  const onConnected = (upstream: Socket): void => {
    upstream.write(headText(`${request.method} ${path} HTTP/1.1`, headers), 'latin1')
    if (head.length > 0) upstream.write(head)
    splice(socket, upstream)
  }
  const onFailed = (why: string): void => {
    socket.end(
      `HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\nX-Wiretape: ${why}\r\n\r\n`,
    )
  }
  return target.url.protocol === 'https:'
    ? dial.connectSecurely(target, { onConnected, onFailed })
    : dial.connect(target, { onConnected, onFailed })
}

/**
 * The request without its offer of an upgrade (h2c), which a server may ignore, as bytes to be parsed again: Node
 * reads no request on a connection that may be upgraded.
 */
export function withoutOffer(request: IncomingMessage, head: Buffer): Buffer {
  const headers = pairsOf(request.rawHeaders).flatMap(([name, value]): [string, string][] => {
    if (/^(upgrade|http2-settings)$/i.test(name)) return []
    if (!/^connection$/i.test(name)) return [[name, value]]
    const options = value.split(',').filter((option) => !/^\s*(upgrade|http2-settings)\s*$/i.test(option))
    return options.length === 0 ? [] : [[name, options.join(',')]]
  })
  const text = headText(`${request.method} ${request.url} HTTP/${request.httpVersion}`, headers)
  return Buffer.concat([Buffer.from(text, 'latin1'), head])
}

function headText(start: string, headers: readonly (readonly [string, string])[]): string {
  return `${[start, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`
}
