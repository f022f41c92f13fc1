import type { RawHeaders } from '../../wire/index.js'
import type { Agent, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { raiseBarrier, type Access, type Barrier } from '../barrier/index.js'
import { isLoopback, originOf, refusalOf, type ProxyAddress } from './admission.js'
import type { AnswerRules } from './answer.js'
import { createBag } from './bag.js'
import { createClientConnection, type ClientConnection } from './client-connection.js'
import { createConversations } from './conversations.js'
import { Exchange } from './exchange.js'
import type { Gatekeeper } from './gatekeeper.js'
import { postOwn, type OwnAnswer } from './own-post.js'
import { createFloodGate } from './flood-gate.js'
import { eventOf, momentNow, type HttpEvent, type Tell } from './http-event.js'
import { checkUpstream, findListenAddress, refuseOurselves } from './listen-address.js'
import { createListener, listenOn } from './listener.js'
import { createMetadataPlaces } from './protected-resource.js'
import { createReadingRoom } from './reading-room.js'
import type { Refusal } from './refusal.js'
import type { Route, Setting } from './setting.js'
import { createTalks, type PostedBefore, type Talks } from './talks.js'
import { createUpstreamAgent } from './upstream-request.js'

export interface HttpProxyOptions {
  /** `http:` or `https:`. Requests to every path of its origin are forwarded, not only to its own. */
  readonly upstream: URL
  /** Listening address, or a name of one. */
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /**
   * Required for an address that is not loopback. On such an address, the `Host` of requests is not checked.
   *
   * @default false
   */
  readonly allowRemote?: boolean
  /**
   * Admits our own user, root, and clients with the secret. Undefined admits everyone who can connect, which is
   * right where the upstream would serve them as well.
   */
  readonly access?: Access | undefined
  /** First part of the path of every upstream request; hidden from clients and recorders. @default '' */
  readonly upstreamPrefix?: string
  /** Accepts any certificate of the upstream. @default false */
  readonly insecure?: boolean
  /** Rewrites OAuth metadata to our own URL, as clients require. @default true */
  readonly oauthRewrite?: boolean
  /** The recorder's key, so that both give a conversation the same name. */
  readonly conversationKey?: string
  /** Called after the traffic was forwarded. Must not throw. */
  onEvent(event: HttpEvent): void
  /** Gets a notice for the user, in one line. */
  onNotice?(line: string): void
}

interface Telling {
  readonly exchange: number
  readonly tell: Tell
}

/**
 * Listens, and forwards all requests to the upstream.
 *
 * @throws WiretapeError `usage` when it cannot listen there, or cannot send to that URL
 */
export async function startHttpProxy(options: HttpProxyOptions): Promise<HttpProxy> {
  const { upstream, host } = options
  checkUpstream(upstream)
  const address = await findListenAddress(host, options.allowRemote ?? false)
  // Before trying the port: if the upstream runs there, "the port is in use" would be less helpful.
  await refuseOurselves(upstream, address, options.port)
  const server = createListener()
  const port = await listenOn(server, address, options.port, host)
  try {
    await refuseOurselves(upstream, address, port)
  } catch (error) {
    server.close()
    throw error
  }
  return new HttpProxy(server, address, port, options)
}

export class HttpProxy {
  readonly #server: Server
  readonly #options: HttpProxyOptions
  readonly #upstream: URL
  readonly #barrier: Barrier | undefined
  readonly #prefix: string
  readonly #gate = createFloodGate()
  readonly #connections = new Map<Socket, ClientConnection>()
  readonly #sockets = new Set<Socket>()
  readonly #answering = createBag<ServerResponse>()
  #connectionCount = 0
  #exchangeCount = 0
  #closing: Promise<void> | undefined
  readonly #place: ProxyAddress
  readonly #answer: AnswerRules
  #gatekeeper: Gatekeeper | undefined
  readonly #setting: Setting
  /** The URL for clients, in place of the upstream's, without a query. */
  readonly url: string
  /** The same for clients on other hosts; undefined where none can connect, or the same URL works. */
  readonly remoteUrl: string | undefined
  readonly talks: Talks

  constructor(server: Server, address: string, port: number, options: HttpProxyOptions) {
    this.#server = server
    this.#options = options
    const { upstream, host } = options
    this.#upstream = upstream
    this.#barrier = options.access && raiseBarrier(server, address, port, options.access)
    this.url = originOf(reachable(host), port) + (this.#barrier?.prefix ?? '') + upstream.pathname
    this.remoteUrl =
      this.#barrier?.remotePrefix &&
      originOf(visible(host), port) + this.#barrier.remotePrefix + upstream.pathname
    this.#prefix = options.upstreamPrefix ?? ''
    this.#place = { host, port, open: !isLoopback(address), upstreamOrigin: upstream.origin }
    let noticed = false
    this.#answer = {
      upstream,
      oauthRewrite: options.oauthRewrite ?? true,
      places: createMetadataPlaces(),
      onOauthRewritten: () => {
        if (noticed) return
        noticed = true
        options.onNotice?.(
          `The OAuth metadata of ${upstream.origin} now names wiretape, because clients require it: clients request tokens ` +
            'for another audience, which the server may refuse.',
        )
      },
    }
    this.talks = createTalks(createConversations(options.conversationKey))
    this.#setting = {
      gate: this.#gate,
      onUpstreamSocket: (socket) => this.#track(socket),
      route: (request, connection) => this.#route(request, connection),
      gatekeeper: () => this.#gatekeeper,
      talks: this.talks,
      room: createReadingRoom(),
    }
    server.on('connection', (socket) => {
      const createAgent = (to: URL): Agent => createUpstreamAgent(to, { insecure: options.insecure ?? false })
      this.#connections.set(socket, createClientConnection(this.#connectionCount++, socket, createAgent))
      this.#track(socket)
      socket.once('close', () => this.#connections.delete(socket))
    })
    for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
      server.on(event, (request, response) => {
        const connection = this.#connections.get(request.socket)
        if (!connection) return
        const own = this.#barrier?.admit(request, response)
        if (this.#barrier && own === undefined) return
        response.once('close', this.#answering.add(response))
        const { exchange, tell } = this.#startTelling()
        new Exchange(request, response, connection, this.#setting, exchange, tell, own).start()
      })
    }
    server.on('connect', ({ method = '', url = '', rawHeaders, socket }) => {
      const { tell } = this.#startTelling()
      const connection = this.#connections.get(socket)?.number ?? 0
      socket.on('error', () => undefined)
      socket.write('HTTP/1.1 501 Not Implemented\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      socket.destroySoon()
      tell({ kind: 'request', connection, method, path: url, headers: rawHeaders }, momentNow())
      tell({ kind: 'failed', by: 'wiretape', why: 'tunnels are not supported', status: 501 }, momentNow())
    })
  }

  /**
   * Stops reading from all clients and upstreams, or resumes. Bytes already read still pass; requests and responses
   * that begin meanwhile wait.
   */
  hold(wait: boolean): void {
    this.#gate.hold(wait)
  }

  /** Shows messages to a gatekeeper, from the next exchange or event on; undefined removes it. */
  setGatekeeper(keeper: Gatekeeper | undefined): void {
    this.#gatekeeper = keeper
  }

  /**
   * Sends a POST of our own, modelled on a recorded one, on its own connection. It is recorded like every exchange.
   *
   * @param begins called with the number of the exchange before its first event
   */
  post(
    like: PostedBefore,
    headers: RawHeaders,
    body: Uint8Array,
    begins: (exchange: number) => void,
  ): Promise<OwnAnswer> {
    const { exchange, tell } = this.#startTelling()
    begins(exchange)
    const agent = createUpstreamAgent(this.#upstream, { insecure: this.#options.insecure ?? false })
    return postOwn(
      { ...like, headers },
      body,
      { upstream: this.#upstream, agent, path: this.#onward(like.path), host: this.#upstream.host },
      tell,
      (socket) => this.#track(socket),
    )
  }

  /** Resolves when no response is in progress, or after this time. Never rejects. */
  async settled(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise((done) => (timer = setTimeout(done, withinMs)))
    const open: Promise<unknown>[] = []
    this.#answering.each((response) => open.push(new Promise((done) => response.once('close', done))))
    await Promise.race([Promise.all(open), late])
    clearTimeout(timer)
  }

  /** Ends all connections at once. Resolves when all sockets are closed. Can be called twice. */
  close(): Promise<void> {
    return (this.#closing ??= this.#closeAll())
  }

  /** The query of the upstream's URL applies only to requests for exactly its path. */
  #onward(path: string): string {
    return this.#prefix + (path === this.#upstream.pathname ? path + this.#upstream.search : path)
  }

  #route(request: IncomingMessage, connection: ClientConnection): Route | Refusal {
    const { url: path = '/', rawHeaders } = request
    const why = refusalOf(rawHeaders, this.#place)
    if (why !== undefined) return { why, status: 403 }
    if (!/^(\/|\*$)/.test(path)) return { why: 'its target is not a path', status: 400 }
    return {
      upstream: this.#upstream,
      agent: connection.agentFor(this.#upstream),
      path: this.#onward(path),
      host: this.#upstream.host,
      plain: this.#answer.oauthRewrite && this.#answer.places.has(request.method ?? '', path),
      answer: this.#answer,
    }
  }

  #track(socket: Socket): void {
    if (this.#sockets.has(socket)) return
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  #startTelling(): Telling {
    const exchange = this.#exchangeCount++
    return {
      exchange,
      tell: (happening, moment) => this.#options.onEvent(eventOf(happening, exchange, moment)),
    }
  }

  async #closeAll(): Promise<void> {
    const stopped = new Promise((done) => this.#server.close(done))
    for (const connection of this.#connections.values())
      connection.destroy('wiretape', 'wiretape is stopping')
    const open = [...this.#sockets].map((socket) => {
      socket.destroy()
      return socket.closed ? undefined : new Promise((done) => socket.once('close', done))
    })
    await Promise.all([stopped, ...open])
  }
}

/** An address to connect to; the "any" address is only for listening. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return /^\[?::\]?$/.test(host) ? '::1' : host
}

/** The first address by which other hosts reach us. */
function visible(host: string): string {
  if (host !== '0.0.0.0' && !/^\[?::\]?$/.test(host)) return host
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? hostname()
}
