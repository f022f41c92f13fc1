import type { Socket } from 'node:net'
import type { FloodGate } from '../http-proxy/flood-gate.js'
import type { Dial } from './dial.js'
import { watchOpening, type Opening } from './opening.js'
import { secured, type Target } from './target.js'
import { openTls, type ServerCertificate } from './tls-client.js'
import { splice } from './tunnel.js'

/** Why nobody looks at what passes. */
export type TunnelReason =
  /** The user said so. */
  | 'skipped'
  /** The client does not believe our certificate. */
  | 'pinned'
  /** It speaks nothing that we know. */
  | 'not-http'
  /** It speaks no HTTP/1.1. */
  | 'http2'
  /** None could be made. */
  | 'no-certificate'

/** What all tunnels of a proxy have in common. */
export interface ConnectSetting {
  readonly gate: FloodGate
  readonly dial: Dial
  tunnelled(place: Target): TunnelReason | undefined
  certificateFor(name: string): Promise<ServerCertificate>
  onTunnel(place: string, why: TunnelReason): void
  onUpstreamSocket(socket: Socket): void
  /** The client did not believe our certificate. @param certain it said so */
  onDisbelief(place: string, certain: boolean): void
  /** HTTP is spoken on the socket, and all of it goes to `target`. @returns whether there was a request */
  onHttp(socket: Socket, target: Target): () => boolean
}

const established = 'HTTP/1.1 200 Connection Established\r\n\r\n'

/** Answers CONNECT. The upstream is connected to when it is known what for: HTTP fails better inside than here. */
export function openConnect(socket: Socket, head: Buffer, target: Target, setting: ConnectSetting): void {
  const reason = setting.tunnelled(target)
  if (reason !== undefined) return tunnelBlindly(socket, head, target, reason, setting)
  socket.write(established)
  let upstream: Socket | undefined
  const opening = watchOpening(socket, head, {
    onSilence() {
      upstream = setting.dial.connect(secured(target), {
        onConnected(connected) {
          // Whoever speaks first is no HTTP server. It is read when both ends are joined.
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
      // Some clients (Node) look at a certificate after the handshake, and just leave when they do not believe it.
      inside.once('close', () => {
        if (!isUsed()) setting.onDisbelief(target.name, false)
      })
    },
    // Or in the middle of it, or speak no TLS that we speak.
    onFailed: (disbelieved) => setting.onDisbelief(target.name, disbelieved),
  })
}

function tunnel(socket: Socket, target: Target, why: TunnelReason, setting: ConnectSetting): void {
  setting.onTunnel(target.name, why)
  // A proxy on the way takes a tunnel for TLS, whatever is in it.
  const upstream = setting.dial.connect(secured(target), {
    onConnected: (connected) => splice(socket, connected),
    onFailed: () => socket.destroy(),
  })
  setting.onUpstreamSocket(upstream)
}

/** It is known before what it is for: the client hears whether it is connected. */
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
