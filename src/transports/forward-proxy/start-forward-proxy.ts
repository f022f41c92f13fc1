import type { RawHeaders } from '../../wire/index.js'
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
import type { HttpEvent, HttpHappening, ArrivalTime, Tell } from '../http-proxy/http-event.js'
import { findListenAddress } from '../http-proxy/listen-address.js'
import { createListener, listenOn } from '../http-proxy/listener.js'
import { postOwn, type OwnAnswer } from '../http-proxy/own-post.js'
import type { Refusal } from '../http-proxy/refusal.js'
import type { Route, Setting } from '../http-proxy/setting.js'
import { createTalks, type PostedBefore, type Talks } from '../http-proxy/talks.js'
import type { UpstreamTrust } from '../http-proxy/upstream-request.js'
import { openConnect, type ConnectSetting, type TunnelReason } from './connect.js'
import { createDial, type Dial } from './dial.js'
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
  return new ForwardProxy(server, raiseBarrier(server, address, port, options.access ?? {}), port, options)
}

export class ForwardProxy {
  readonly #server: http.Server
  readonly #barrier: Barrier
  readonly #port: number
  readonly #options: ForwardProxyOptions
  readonly #dial: Dial
  readonly #gate = createFloodGate()
  readonly #talkOf = new Map<Socket, Talk>()
  readonly #sockets = new Set<Socket>()
  /** Reads the requests inside tunnels. */
  readonly #inside = createListener()
  readonly #disbelief = createDisbelief()
  #connectionCount = 0
  #exchangeCount = 0
  #clients = 0
  #onIdle = (): void => undefined
  #closing: Promise<void> | undefined
  readonly talks: Talks
  readonly #setting: Setting
  /** Value for `HTTP_PROXY` and similar variables. */
  readonly url: string
  readonly #onUpstreamSocket = (socket: Socket): void => {
    if (this.#sockets.has(socket)) return
    this.#track(socket)
    // The name of a target may resolve to our own address, which would cause an endless loop.
    socket.once('connect', () => {
      const { remoteAddress: hostname = '', remotePort = 0 } = socket
      if (this.#isSelf({ hostname, port: remotePort }))
        socket.destroy(new Error('the address leads back to wiretape'))
    })
  }

  readonly #onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const talk = this.#talkOf.get(request.socket)
    if (!talk) return
    const refused = talk.target ? undefined : this.#barrier.refusesProxy(request)
    if (refused) return answer(request.socket, refused.status, refused.why)
    this.#use(talk)
    const exchange = this.#exchangeCount++
    const tell = (happening: HttpHappening, moment: ArrivalTime): void =>
      this.#options.onEvent({ ...happening, exchange, ...moment })
    // After a request that is not for a proxy, the connection cannot carry proxy requests either.
    if (!talk.target && 'why' in this.#targetOf(request)) response.shouldKeepAlive = false
    new Exchange(request, response, talk.connection, this.#setting, exchange, tell).start()
  }

  readonly #onUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    socket.on('error', () => undefined)
    if (!isWebSocket(request)) {
      socket.unshift(withoutOffer(request, head))
      return readFrom(this.#talkOf.get(socket)?.target ? this.#inside : this.#server, socket)
    }
    const talk = this.#talkOf.get(socket)
    const refused = talk?.target ? undefined : this.#barrier.refusesProxy(request)
    if (refused) return answer(socket, refused.status, refused.why)
    if (talk) this.#use(talk)
    const found = this.#targetOf(request)
    if ('why' in found) return answer(socket, found.status, found.why)
    this.#track(passUpgrade(request, socket, head, found, this.#dial))
  }

  constructor(server: http.Server, barrier: Barrier, port: number, options: ForwardProxyOptions) {
    this.#server = server
    this.#barrier = barrier
    this.#port = port
    this.url = `http://${barrier.proxyLogin}${asUrlHost(options.host)}:${port}`
    this.#options = options
    this.#dial = createDial({
      trust: options,
      proxyFor: (target) => options.proxyFor?.(target),
      onSocket: this.#onUpstreamSocket,
    })
    this.talks = createTalks(createConversations(options.conversationKey))
    const { gatekeeper } = options
    this.#setting = {
      gate: this.#gate,
      onUpstreamSocket: this.#onUpstreamSocket,
      route: (request) => this.#route(request),
      talks: this.talks,
      gatekeeper: () => gatekeeper,
      room: createReadingRoom(),
    }
    const connectSetting: ConnectSetting = {
      gate: this.#gate,
      dial: this.#dial,
      tunnelled: (place) =>
        options.tunnelled(place) ?? (this.#disbelief.isPinned(place.name) ? 'pinned' : undefined),
      certificateFor: (name) => options.certificateFor(name),
      onTunnel: (place, why) => options.onTunnel(place, why),
      onUpstreamSocket: this.#onUpstreamSocket,
      onDisbelief: (place, certain) => this.#disbelief.seen(place, certain),
      onHttp: (socket, target) => {
        const talk = this.#beginTalk(socket, target)
        readFrom(this.#inside, socket)
        return () => talk.used
      },
    }
    server.on('connection', (socket) => {
      if (this.#talkOf.has(socket)) return
      this.#beginTalk(socket)
      this.#clients += 1
      socket.once('close', () => {
        this.#clients -= 1
        this.#onIdle()
      })
    })
    for (const listener of [server, this.#inside]) {
      listener.on('request', this.#onRequest)
      listener.on('checkContinue', this.#onRequest)
      listener.on('checkExpectation', this.#onRequest)
      listener.on('upgrade', this.#onUpgrade)
    }
    server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      const { url = '' } = request
      socket.on('error', () => undefined)
      this.#talkOf.delete(socket)
      const refused = barrier.refusesProxy(request)
      if (refused) return answer(socket, refused.status, refused.why)
      const target = parseAuthority(url)
      if (!target) return answer(socket, 400, 'CONNECT needs a host and a port')
      if (this.#isSelf(target)) return answer(socket, 403, 'the address leads back to wiretape')
      openConnect(socket, head, target, connectSetting)
    })
    this.#inside.on('connect', (_request: IncomingMessage, socket: Socket) => {
      answer(socket, 501, 'this connection is already a tunnel')
    })
  }

  /** Sends a POST of our own, modelled on a recorded one, on its own connection. */
  post(
    like: PostedBefore & { readonly origin: string },
    headers: RawHeaders,
    body: Uint8Array,
    tell: Tell,
  ): Promise<OwnAnswer> {
    const upstream = new URL(like.origin)
    const agent = this.#dial.createAgent(upstream)
    const to = { upstream, agent, ...this.#dial.wayTo(upstream, like.path), host: upstream.host }
    return postOwn({ ...like, headers }, body, to, tell, this.#onUpstreamSocket)
  }

  /** Stops reading from all clients and upstreams, or resumes. Tunnels are not affected. */
  hold(wait: boolean): void {
    this.#gate.hold(wait)
  }

  /** Resolves when no client is connected, or after this time. */
  idle(withinMs: number): Promise<void> {
    return new Promise((done) => {
      const timer = setTimeout(done, withinMs)
      this.#onIdle = () => {
        if (this.#clients > 0) return
        clearTimeout(timer)
        done()
      }
      this.#onIdle()
    })
  }

  /** Ends all connections at once. Resolves when all sockets are closed. Can be called twice. */
  close(): Promise<void> {
    return (this.#closing ??= this.#closeAll())
  }

  #isSelf({ hostname, port: theirs }: { hostname: string; port: number }): boolean {
    return theirs === this.#port && isLoopback(hostname)
  }

  #track(socket: Socket): void {
    if (this.#sockets.has(socket)) return
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  #route(request: IncomingMessage): Route | Refusal {
    const found = this.#targetOf(request)
    if ('why' in found) return found
    const { target, path, host } = found
    const { connection } = this.#talkOf.get(request.socket)!
    const { url: upstream } = target
    return {
      upstream,
      agent: connection.agentFor(upstream),
      ...this.#dial.wayTo(upstream, path),
      ...(host !== undefined && { host }),
      target: { path, origin: upstream.origin },
    }
  }

  #targetOf(request: IncomingMessage): { target: Target; path: string; host?: string } | Refusal {
    const { url = '/', method = 'GET' } = request
    const talk = this.#talkOf.get(request.socket)
    if (talk?.target) return { target: talk.target, path: url }
    const found = parseAbsolute(url, method)
    // Requests from web pages in browsers always have this form, whichever name they used for us.
    if (!found) return { why: 'this is a proxy for HTTP_PROXY, without pages of its own', status: 400 }
    if (this.#isSelf(found.target)) return { why: 'the address leads back to wiretape', status: 403 }
    return found
  }

  #use(talk: Talk): void {
    talk.used = true
    if (talk.target?.url.protocol === 'https:') this.#disbelief.believed(talk.target.name)
  }

  #beginTalk(socket: Socket, target?: Target): Talk {
    const connection = createClientConnection(this.#connectionCount++, socket, (to) =>
      this.#dial.createAgent(to),
    )
    const talk: Talk = { connection, used: false, ...(target && { target }) }
    this.#talkOf.set(socket, talk)
    this.#track(socket)
    socket.once('close', () => this.#talkOf.delete(socket))
    return talk
  }

  async #closeAll(): Promise<void> {
    const stopped = new Promise((done) => this.#server.close(done))
    for (const { connection } of this.#talkOf.values()) connection.destroy('wiretape', 'wiretape is stopping')
    const open = [...this.#sockets].map((socket) => {
      socket.destroy()
      return socket.closed ? undefined : new Promise((done) => socket.once('close', done))
    })
    await Promise.all([stopped, ...open])
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
