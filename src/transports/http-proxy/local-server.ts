import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isLoopback, originOf, refusalOf } from './admission.js'
import { findListenAddress } from './listen-address.js'
import { createListener, listenOn } from './listener.js'

export interface LocalServerOptions {
  /** An address of this machine that others cannot reach, or a name of one. */
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** A request whose `Host` and `Origin` are in order. Errors of the response are nobody's concern. */
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void
}

/** An HTTP server of our own, for programs on this machine. */
export interface LocalServer {
  /** Such as `http://127.0.0.1:8080`. */
  readonly origin: string
  /** Ends everything at once. Resolves when all sockets are closed. Can be called twice. */
  close(): Promise<void>
}

/** @throws WiretapeError `usage` when it cannot listen there */
export async function startLocalServer({ host, port, onRequest }: LocalServerOptions): Promise<LocalServer> {
  const address = await findListenAddress(host, 'never')
  const server = createListener()
  const taken = await listenOn(server, address, port, host)
  const origin = originOf(host, taken)
  const place = { host, port: taken, open: !isLoopback(address), upstreamOrigin: origin }
  const sockets = new Set<Socket>()
  let closing: Promise<void> | undefined

  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('request', (request, response) => {
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    const refused = refusalOf(request.rawHeaders, place)
    if (refused === undefined) return onRequest(request, response)
    request.resume()
    response.writeHead(403, { 'Content-Type': 'text/plain; charset=utf-8' })
    response.end(`wiretape does not answer this request: ${refused}.\n`)
  })

  async function closeAll(): Promise<void> {
    const stopped = new Promise((done) => server.close(done))
    const open = [...sockets].map((socket) => {
      socket.destroy()
      return socket.closed ? undefined : new Promise((done) => socket.once('close', done))
    })
    await Promise.all([stopped, ...open])
  }

  return { origin, close: () => (closing ??= closeAll()) }
}
