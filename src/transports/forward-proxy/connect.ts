import type { Socket } from 'node:net'
import type { FloodGate } from '../http-proxy/flood-gate.js'
import type { Dial } from './dial.js'
import { watchOpening, type Opening } from './opening.js'
import { secured, type Target } from './target.js'
import { openTls, type ServerCertificate } from './tls-client.js'
import { splice } from './tunnel.js'

/** The reason why a connection is tunnelled without being read. */
export type TunnelReason =
  /** The user excluded the host. */
  | 'skipped'
  /** The client rejects our certificate. */
  | 'pinned'
  /** The protocol is unknown. */
  | 'not-http'
  /** The client does not offer HTTP/1.1. */
  | 'http2'
  /** No certificate could be made. */
  | 'no-certificate'

/** Settings shared by all tunnels of a proxy. */
export interface ConnectSetting {
  readonly gate: FloodGate
  readonly dial: Dial
  tunnelled(place: Target): TunnelReason | undefined
  certificateFor(name: string): Promise<ServerCertificate>
  onTunnel(place: string, why: TunnelReason): void
  onUpstreamSocket(socket: Socket): void
  /** The client rejected our certificate. @param certain it sent a TLS alert */
  onDisbelief(place: string, certain: boolean): void
  /** The client uses HTTP on the socket, and all requests go to `target`. @returns whether there was a request */
  onHttp(socket: Socket, target: Target): () => boolean
}

const established = 'HTTP/1.1 200 Connection Established\r\n\r\n'

/** Answers CONNECT. Connects upstream once the protocol is known, since HTTP inside reports failures better. */
export function openConnect(socket: Socket, head: Buffer, target: Target, setting: ConnectSetting): void {
  const reason = setting.tunnelled(target)
  if (reason !== undefined) return tunnelBlindly(socket, head, target, reason, setting)
  socket.write(established)
  let upstream: Socket | undefined
  const opening = watchOpening(socket, head, {
    onSilence() {
      upstream = setting.dial.connect(secured(target), {
        onConnected(connected) {
          // A server that sends first is not an HTTP server. Its bytes are read when both ends are joined.
          connected.once('readable', () => {
            if (connected.readableLength === 0 || connected !== upstream) return
            opening.stop()
            setting.onTunnel(target.name, 'not-http')
            splice(socket, connected)
          })
        },
        onFailed: () => socket.destroy(),
      })
      setting.onUpstreamSocket(upstream)
      socket.once('close', () => upstream?.destroy())
    },
    onOpening(found) {
      const idle = upstream
      upstream = undefined
      idle?.destroy()
      setting.gate.pass(() => void proceed(socket, found, target, setting))
    },
  })
}

async function proceed(
  socket: Socket,
  opening: Opening,
  target: Target,
  setting: ConnectSetting,
): Promise<void> {
  // The client may have closed while its request waited at the gate.
  if (socket.destroyed) return
  if (opening.kind === 'http') return void setting.onHttp(socket, target)
  if (opening.kind === 'other') return tunnel(socket, target, 'not-http', setting)
  const { serverName, protocols } = opening.hello
  if (protocols && !protocols.includes('http/1.1')) return tunnel(socket, target, 'http2', setting)
  const certificate = await setting.certificateFor(serverName ?? target.hostname).catch(() => undefined)
  if (socket.destroyed) return
  if (!certificate) return tunnel(socket, target, 'no-certificate', setting)
  openTls(socket, {
    certificate,
    onSecure(inside) {
      const isUsed = setting.onHttp(inside, secured(target))
      // Some clients (Node) check a certificate after the handshake, and just disconnect when they reject it.
      inside.once('close', () => {
        if (!isUsed()) setting.onDisbelief(target.name, false)
      })
    },
    // The client rejected it during the handshake, or uses an unsupported version of TLS.
    onFailed: (disbelieved) => setting.onDisbelief(target.name, disbelieved),
  })
}

function tunnel(socket: Socket, target: Target, why: TunnelReason, setting: ConnectSetting): void {
  setting.onTunnel(target.name, why)
  // A proxy in between treats every tunnel as TLS, whatever it carries.
  const upstream = setting.dial.connect(secured(target), {
    onConnected: (connected) => splice(socket, connected),
    onFailed: () => socket.destroy(),
  })
  setting.onUpstreamSocket(upstream)
}

/** Connects before it answers CONNECT, so that the client learns whether the connection succeeded. */
function tunnelBlindly(
  socket: Socket,
  head: Buffer,
  target: Target,
  reason: TunnelReason,
  setting: ConnectSetting,
): void {
  setting.onTunnel(target.name, reason)
  const upstream = setting.dial.connect(secured(target), {
    onConnected(connected) {
      socket.write(established)
      if (head.length > 0) socket.unshift(head)
      splice(socket, connected)
    },
    onFailed: () => socket.end('HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'),
  })
  setting.onUpstreamSocket(upstream)
  socket.once('close', () => upstream.destroy())
}
