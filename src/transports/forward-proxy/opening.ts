import type { Socket } from 'node:net'
import { readClientHello, type ClientHello } from './client-hello.js'

/** The protocol inside a tunnel, judged by the first bytes of the client. */
export type Opening =
  | { readonly kind: 'tls'; readonly hello: ClientHello }
  | { readonly kind: 'http' }
  | { readonly kind: 'other' }

/** A possible start of a request line (RFC 9112, 3). Other protocols begin with a word too (`EHLO`, `NICK`, `get`). */
const beginning = /^([A-Za-z0-9!#$%&'*+.^_`|~-]{1,24})(?: ([^\s]*)(?: ([ -~]{0,8})\r?)?)?$/
/** Requests inside a tunnel ask for a path. Some clients repeat the server's name. */
const targetStarts = ['/', '* ', 'http://', 'https://']
/** A longer line counts as HTTP, whose parser answers with the proper error. */
const longestLine = 16 * 1024
/** The start of HTTP/2 without TLS (RFC 9113, 3.4). */
const http2 = 'PRI * HTTP/2.0'

/** Undefined while more bytes are needed. */
function openingOf(bytes: Buffer): Opening | undefined {
  if (bytes.length === 0) return undefined
  if (bytes[0] === 0x16) {
    const hello = readClientHello(bytes)
    if (hello === 'more') return undefined
    return hello === 'other' ? { kind: 'other' } : { kind: 'tls', hello }
  }
  const text = bytes.toString('latin1', 0, 32)
  if (http2.startsWith(text.slice(0, http2.length)))
    return text.length < http2.length ? undefined : { kind: 'other' }
  const end = bytes.subarray(0, longestLine).indexOf(0x0a)
  const line = bytes.toString('latin1', 0, end === -1 ? longestLine : end)
  const [found, , target, version] = beginning.exec(line) ?? []
  if (found === undefined) return { kind: 'other' }
  if (target !== undefined && !isTarget(version === undefined ? target : `${target} `))
    return { kind: 'other' }
  if (version !== undefined && !isVersion(version)) return { kind: 'other' }
  if (end === -1) return line.length < longestLine ? undefined : { kind: 'http' }
  return version?.length === 8 ? { kind: 'http' } : { kind: 'other' }
}

function isTarget(begun: string): boolean {
  const text = begun.toLowerCase()
  return targetStarts.some((start) => text.startsWith(start.slice(0, text.length)))
}

function isVersion(begun: string): boolean {
  return 'HTTP/1.'.startsWith(begun.slice(0, 7)) && /^\d?$/.test(begun.slice(7))
}

/** In some protocols the server sends first, and the client waits. */
const silentMs = 300

export interface OpeningOptions {
  /** The client sends nothing: the server may have to send first. */
  readonly onSilence: () => void
  /** All bytes received so far can be read from the socket again. */
  readonly onOpening: (opening: Opening) => void
}

/** Inspects the first bytes of a client. `stop` puts received bytes back into the socket. */
export function watchOpening(socket: Socket, head: Buffer, options: OpeningOptions): { stop(): void } {
  let bytes = head
  let over = false
  const timer = setTimeout(() => {
    if (bytes.length === 0) options.onSilence()
  }, silentMs)

  function stop(): void {
    if (over) return
    over = true
    clearTimeout(timer)
    socket.off('data', onData)
    socket.off('end', onEnd)
    socket.off('close', stop)
    socket.pause()
    if (bytes.length > 0 && !socket.readableEnded) socket.unshift(bytes)
  }

  function onData(chunk: Buffer): void {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    look()
  }

  /** The client ended before its protocol was recognized. */
  function onEnd(): void {
    over = true
    clearTimeout(timer)
    socket.destroy()
  }

  function look(): void {
    const opening = openingOf(bytes)
    if (!opening) return
    stop()
    options.onOpening(opening)
  }

  socket.on('data', onData)
  socket.once('end', onEnd)
  socket.once('close', stop)
  look()
  return { stop }
}
