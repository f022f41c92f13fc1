import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { raiseBarrier, type Access, type Barrier } from '../barrier/index.js'
import { asUrlHost, isLoopback } from '../http-proxy/admission.js'
import { createClientConnection, type ClientConnection } from '../http-proxy/client-connection.js'
import { createConversations } from '../http-proxy/conversations.js'
import { Exchange } from '../http-proxy/exchange.js'
import { createFloodGate } from '../http-proxy/flood-gate.js'
import type { Gatekeeper } from '../http-proxy/gatekeeper.js'
import { createReadingRoom } from '../http-proxy/reading-room.js'
import type { HttpEvent, HttpHappening, ArrivalTime, RawHeaders, Tell } from '../http-proxy/http-event.js'
import { findListenAddress } from '../http-proxy/listen-address.js'
import { createListener, listenOn } from '../http-proxy/listener.js'
import { postOwn, type OwnAnswer } from '../http-proxy/own-post.js'
import type { Refusal } from '../http-proxy/refusal.js'
import type { Route, Setting } from '../http-proxy/setting.js'
import { createTalks, type PostedBefore, type Talks } from '../http-proxy/talks.js'
import type { UpstreamTrust } from '../http-proxy/upstream-request.js'
import { openConnect, type ConnectSetting, type TunnelReason } from './connect.js'
import { createDial } from './dial.js'
import { createDisbelief } from './disbelief.js'
import { parseAbsolute, parseAuthority, type Target } from './target.js'
import type { ServerCertificate } from './tls-client.js'
import type { UpstreamProxy } from './upstream-proxy.js'
import { isWebSocket, passUpgrade, withoutOffer } from './upgrade.js'

export interface ForwardProxyOptions extends UpstreamTrust {
  /** Listening address: one that other machines cannot reach. */
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Access to the proxy. @default our own user and root */
  readonly access?: Access | undefined
  /** The recorders' key, so that all of them give a conversation the same name. */
  readonly conversationKey?: string
  /** The certificate shown to TLS clients in place of the server's. Rejects when none can be made. */
  certificateFor(name: string): Promise<ServerCertificate>
  /** The reason why a place is only tunnelled; undefined when its traffic may be read. */
  tunnelled(place: { readonly hostname: string; readonly port: number }): TunnelReason | undefined
  /** Sees the messages that it asks for, before they pass. */
  readonly gatekeeper?: Gatekeeper
  /** A proxy between us and a server. @default none */
  proxyFor?(target: Target): UpstreamProxy | undefined
  /** Called after the traffic was forwarded. Must not throw. */
  onEvent(event: HttpEvent): void
  /** Traffic to this place is tunnelled and not recorded. @param place `host:port` */
  onTunnel(place: string, why: TunnelReason): void
}

export interface ForwardProxy {
  /** Value for `HTTP_PROXY` and similar variables. */
  readonly url: string
  readonly talks: Talks
  /** Sends a POST of our own, modelled on a recorded one, on its own connection. */
  post(
    like: PostedBefore & { readonly origin: string },
    headers: RawHeaders,
    body: Uint8Array,
    tell: Tell,
  ): Promise<OwnAnswer>
  /** Stops reading from all clients and upstreams, or resumes. Tunnels are not affected. */
  hold(wait: boolean): void
  /** Resolves when no client is connected, or after this time. */
  idle(withinMs: number): Promise<void>
  /** Ends all connections at once. Resolves when all sockets are closed. Can be called twice. */
  close(): Promise<void>
}

/** A connection on which a client uses HTTP. */
interface Talk {
  readonly connection: ClientConnection
  /** Target of all its requests; undefined where each request names its own. */
  readonly target?: Target
  used: boolean
}

/**
 * A proxy for `HTTP_PROXY` and `HTTPS_PROXY`. It listens on loopback only and serves only its own user, because it may
 * know the login of an upstream proxy.
 *
 * @throws WiretapeError `usage` when it cannot listen there
 */
export async function startForwardProxy(options: ForwardProxyOptions): Promise<ForwardProxy> {
  const address = await findListenAddress(options.host, 'never')
  const server = createListener()
  const port = await listenOn(server, address, options.port, options.host)
  return serve(server, raiseBarrier(server, address, port, options.access ?? {}), port, options)
}

function serve(
  server: http.Server,
  barrier: Barrier,
  port: number,
  options: ForwardProxyOptions,
): ForwardProxy {
  const dial = createDial({
    trust: options,
    proxyFor: (target) => options.proxyFor?.(target),
    onSocket: onUpstreamSocket,
  })
  const gate = createFloodGate()
  const talks = new Map<Socket, Talk>()
  const sockets = new Set<Socket>()
  /** Reads the requests inside tunnels. */
  const inside = createListener()
  const disbelief = createDisbelief()
  let connectionCount = 0
  let exchangeCount = 0
  let clients = 0
  let onIdle = (): void => undefined
  let closing: Promise<void> | undefined

  const isSelf = ({ hostname, port: theirs }: { hostname: string; port: number }): boolean =>
    theirs === port && isLoopback(hostname)

  function track(socket: Socket): void {
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }

  function onUpstreamSocket(socket: Socket): void {
    if (sockets.has(socket)) return
    track(socket)
    // The name of a target may resolve to our own address, which would cause an endless loop.
    socket.once('connect', () => {
      const { remoteAddress: hostname = '', remotePort = 0 } = socket
      if (isSelf({ hostname, port: remotePort }))
        socket.destroy(new Error('the address leads back to wiretape'))
    })
  }

  const memory = createTalks(createConversations(options.conversationKey))
  const { gatekeeper } = options
  const setting: Setting = {
    gate,
    onUpstreamSocket,
    route,
    talks: memory,
    gatekeeper: () => gatekeeper,
    room: createReadingRoom(),
  }

  function route(request: IncomingMessage): Route | Refusal {
    const found = targetOf(request)
    if ('why' in found) return found
    const { target, path, host } = found
    const { connection } = talks.get(request.socket)!
    const { url: upstream } = target
    return {
      upstream,
      agent: connection.agentFor(upstream),
      ...dial.wayTo(upstream, path),
      ...(host !== undefined && { host }),
      target: { path, origin: upstream.origin },
    }
  }

  function targetOf(request: IncomingMessage): { target: Target; path: string; host?: string } | Refusal {
    const { url = '/', method = 'GET' } = request
    const talk = talks.get(request.socket)
    if (talk?.target) return { target: talk.target, path: url }
    const found = parseAbsolute(url, method)
    // Requests from web pages in browsers always have this form, whichever name they used for us.
    if (!found) return { why: 'this address is an HTTP proxy and has no pages', status: 400 }
    if (isSelf(found.target)) return { why: 'the address leads back to wiretape', status: 403 }
    return found
  }

  function use(talk: Talk): void {
    talk.used = true
    if (talk.target?.url.protocol === 'https:') disbelief.believed(talk.target.name)
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const talk = talks.get(request.socket)
    if (!talk) return
    const refused = talk.target ? undefined : barrier.refusesProxy(request)
    if (refused) return answer(request.socket, refused.status, refused.why)
    use(talk)
    const exchange = exchangeCount++
    const tell = (happening: HttpHappening, moment: ArrivalTime): void =>
      options.onEvent({ ...happening, exchange, ...moment })
    // After a request that is not for a proxy, the connection cannot carry proxy requests either.
    if (!talk.target && 'why' in targetOf(request)) response.shouldKeepAlive = false
    new Exchange(request, response, talk.connection, setting, exchange, tell).start()
  }

  function onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => undefined)
    if (!isWebSocket(request)) {
      socket.unshift(withoutOffer(request, head))
      return readFrom(talks.get(socket)?.target ? inside : server, socket)
    }
    const talk = talks.get(socket)
    const refused = talk?.target ? undefined : barrier.refusesProxy(request)
    if (refused) return answer(socket, refused.status, refused.why)
    if (talk) use(talk)
    const found = targetOf(request)
    if ('why' in found) return answer(socket, found.status, found.why)
    track(passUpgrade(request, socket, head, found, dial))
  }

  function beginTalk(socket: Socket, target?: Target): Talk {
    const connection = createClientConnection(connectionCount++, socket, (to) => dial.createAgent(to))
    const talk: Talk = { connection, used: false, ...(target && { target }) }
    talks.set(socket, talk)
    track(socket)
    socket.once('close', () => talks.delete(socket))
    return talk
  }

  const connectSetting: ConnectSetting = {
    gate,
    dial,
    tunnelled: (place) => options.tunnelled(place) ?? (disbelief.isPinned(place.name) ? 'pinned' : undefined),
    certificateFor: (name) => options.certificateFor(name),
    onTunnel: (place, why) => options.onTunnel(place, why),
    onUpstreamSocket,
    onDisbelief: (place, certain) => disbelief.seen(place, certain),
    onHttp(socket, target) {
      const talk = beginTalk(socket, target)
      readFrom(inside, socket)
      return () => talk.used
    },
  }

  server.on('connection', (socket) => {
    if (talks.has(socket)) return
    beginTalk(socket)
    clients += 1
    socket.once('close', () => {
      clients -= 1
      onIdle()
    })
  })
  for (const listener of [server, inside]) {
    listener.on('request', onRequest)
    listener.on('checkContinue', onRequest)
    listener.on('checkExpectation', onRequest)
    listener.on('upgrade', onUpgrade)
  }
  server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const { url = '' } = request
    socket.on('error', () => undefined)
    talks.delete(socket)
    const refused = barrier.refusesProxy(request)
    if (refused) return answer(socket, refused.status, refused.why)
    const target = parseAuthority(url)
    if (!target) return answer(socket, 400, 'CONNECT needs a host and a port')
    if (isSelf(target)) return answer(socket, 403, 'the address leads back to wiretape')
    openConnect(socket, head, target, connectSetting)
  })
  inside.on('connect', (_request: IncomingMessage, socket: Socket) => {
    answer(socket, 501, 'this connection is already a tunnel')
  })

  async function closeAll(): Promise<void> {
    const stopped = new Promise((done) => server.close(done))
    for (const { connection } of talks.values()) connection.destroy('wiretape', 'wiretape is stopping')
    const open = [...sockets].map((socket) => {
      socket.destroy()
      return socket.closed ? undefined : new Promise((done) => socket.once('close', done))
    })
    await Promise.all([stopped, ...open])
  }

  return {
    url: `http://${barrier.proxyLogin}${asUrlHost(options.host)}:${port}`,
    talks: memory,
    post(like, headers, body, tell) {
      const upstream = new URL(like.origin)
      const agent = dial.createAgent(upstream)
      const to = { upstream, agent, ...dial.wayTo(upstream, like.path), host: upstream.host }
      return postOwn({ ...like, headers }, body, to, tell, onUpstreamSocket)
    },
    hold: (wait) => gate.hold(wait),
    idle: (withinMs) =>
      new Promise((done) => {
        const timer = setTimeout(done, withinMs)
        onIdle = () => {
          if (clients > 0) return
          clearTimeout(timer)
          done()
        }
        onIdle()
      }),
    close: () => (closing ??= closeAll()),
  }
}

/** Lets a server read requests from a socket that was read elsewhere before. */
function readFrom(server: http.Server, socket: Socket): void {
  server.emit('connection', socket)
  socket.resume()
}

function answer(socket: Socket, status: number, why: string): void {
  const text = `wiretape refused this request: ${why}.\n`
  const head = [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
    'Connection: close',
    ...(status === 407 ? ['Proxy-Authenticate: Basic realm="wiretape"'] : []),
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`)
}
