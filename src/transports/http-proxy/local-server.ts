import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { raiseBarrier, type Access } from '../barrier/index.js'
import { isLoopback, originOf, refusalOf } from './admission.js'
import { findListenAddress } from './listen-address.js'
import { createListener, listenOn } from './listener.js'

export interface LocalServerOptions {
  /** An address of this machine that other machines cannot reach, or a name of one. */
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** @default our own user and root */
  readonly access?: Access | undefined
  /**
   * A request that passed the checks of its user, `Host` and `Origin`. Errors of the response are ignored.
   *
   * @param prefix first part of the path by which the client reaches us, already removed from `request.url`
   */
  readonly onRequest: (request: IncomingMessage, response: ServerResponse, prefix: string) => void
}

/** An HTTP server of our own, for programs on this machine. */
export interface LocalServer {
  /** Such as `http://127.0.0.1:8080`. */
  readonly origin: string
  /** First part of the path in clients' URLs: '' where the system identifies the user of a connection. */
  readonly prefix: string
  /** Ends all connections at once. Resolves when all sockets are closed. Can be called twice. */
  close(): Promise<void>
}

/** @throws WiretapeError `usage` when it cannot listen there */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const { host, port, access = {}, onRequest } = options
  const address = await findListenAddress(host, 'never')
  const server = createListener()
  const taken = await listenOn(server, address, port, host)
  const origin = originOf(host, taken)
  const place = { host, port: taken, open: !isLoopback(address), upstreamOrigin: origin }
  const barrier = raiseBarrier(server, address, taken, access)
  const sockets = new Set<Socket>()
  let closing: Promise<void> | undefined

  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('request', (request, response) => {
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    const prefix = barrier.admit(request, response)
    if (prefix === undefined) return
    const refused = refusalOf(request.rawHeaders, place)
    if (refused === undefined) return onRequest(request, response, prefix)
    request.resume()
    response.writeHead(403, { 'Content-Type': 'text/plain; charset=utf-8' })
    response.end(`wiretape refused this request: ${refused}.\n`)
  })

  async function closeAll(): Promise<void> {
    const stopped = new Promise((done) => server.close(done))
    const open = [...sockets].map((socket) => {
      socket.destroy()
      return socket.closed ? undefined : new Promise((done) => socket.once('close', done))
    })
    await Promise.all([stopped, ...open])
  }

  return { origin, prefix: barrier.prefix, close: () => (closing ??= closeAll()) }
}
