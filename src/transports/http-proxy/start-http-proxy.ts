import type { Agent, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { raiseBarrier, type Access } from '../barrier/index.js'
import { isLoopback, originOf, refusalOf, type ProxyAddress } from './admission.js'
import type { AnswerRules } from './answer.js'
import { createBag } from './bag.js'
import { createClientConnection, type ClientConnection } from './client-connection.js'
import { createConversations } from './conversations.js'
import { Exchange } from './exchange.js'
import type { Gatekeeper } from './gatekeeper.js'
import { postOwn, type OwnAnswer } from './own-post.js'
import { createFloodGate } from './flood-gate.js'
import { eventOf, momentNow, type HttpEvent, type RawHeaders, type Tell } from './http-event.js'
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

export interface HttpProxy {
  /** Shows messages to a gatekeeper, from the next exchange or event on; undefined removes it. */
  setGatekeeper(keeper: Gatekeeper | undefined): void
  readonly talks: Talks
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
  ): Promise<OwnAnswer>
  /** The URL for clients, in place of the upstream's, without a query. */
  readonly url: string
  /** The same for clients on other hosts; undefined where none can connect, or the same URL works. */
  readonly remoteUrl: string | undefined
  /**
   * Stops reading from all clients and upstreams, or resumes. Bytes already read still pass; requests and responses
   * that begin meanwhile wait.
   */
  hold(wait: boolean): void
  /** Resolves when no response is in progress, or after this time. Never rejects. */
  settled(withinMs: number): Promise<void>
  /** Ends all connections at once. Resolves when all sockets are closed. Can be called twice. */
  close(): Promise<void>
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
  return serve(server, address, port, options)
}

function serve(server: Server, address: string, port: number, options: HttpProxyOptions): HttpProxy {
  const { upstream, host } = options
  const barrier = options.access && raiseBarrier(server, address, port, options.access)
  const prefix = options.upstreamPrefix ?? ''
  const gate = createFloodGate()
  const connections = new Map<Socket, ClientConnection>()
  const sockets = new Set<Socket>()
  const answering = createBag<ServerResponse>()
  let connectionCount = 0
  let exchangeCount = 0
  let noticed = false
  let closing: Promise<void> | undefined

  const place: ProxyAddress = { host, port, open: !isLoopback(address), upstreamOrigin: upstream.origin }
  const answer: AnswerRules = {
    upstream,
    oauthRewrite: options.oauthRewrite ?? true,
    places: createMetadataPlaces(),
    onOauthRewritten() {
      if (noticed) return
      noticed = true
      options.onNotice?.(
        `The OAuth metadata of ${upstream.origin} now name wiretape, because clients require it: clients request tokens ` +
          'for another audience, which the server may refuse.',
      )
    },
  }
  let gatekeeper: Gatekeeper | undefined
  const setting: Setting = {
    gate,
    onUpstreamSocket: track,
    route,
    gatekeeper: () => gatekeeper,
    talks: createTalks(createConversations(options.conversationKey)),
    room: createReadingRoom(),
  }

  /** The query of the upstream's URL applies only to requests for exactly its path. */
  function onward(path: string): string {
    return prefix + (path === upstream.pathname ? path + upstream.search : path)
  }

  function route(request: IncomingMessage, connection: ClientConnection): Route | Refusal {
    const { url: path = '/', rawHeaders } = request
    const why = refusalOf(rawHeaders, place)
    if (why !== undefined) return { why, status: 403 }
    if (!/^(\/|\*$)/.test(path)) return { why: 'its target is not a path', status: 400 }
    return {
      upstream,
      agent: connection.agentFor(upstream),
      path: onward(path),
      host: upstream.host,
      plain: answer.oauthRewrite && answer.places.has(request.method ?? '', path),
      answer,
    }
  }

  function track(socket: Socket): void {
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }

  function startTelling(): Telling {
    const exchange = exchangeCount++
    return {
      exchange,
      tell: (happening, moment) => options.onEvent(eventOf(happening, exchange, moment)),
    }
  }

  server.on('connection', (socket) => {
    const createAgent = (to: URL): Agent => createUpstreamAgent(to, { insecure: options.insecure ?? false })
    connections.set(socket, createClientConnection(connectionCount++, socket, createAgent))
    track(socket)
    socket.once('close', () => connections.delete(socket))
  })
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    server.on(event, (request, response) => {
      const connection = connections.get(request.socket)
      if (!connection) return
      const own = barrier?.admit(request, response)
      if (barrier && own === undefined) return
      response.once('close', answering.add(response))
      const { exchange, tell } = startTelling()
      new Exchange(request, response, connection, setting, exchange, tell, own).start()
    })
  }
  server.on('connect', ({ method = '', url = '', rawHeaders, socket }) => {
    const { tell } = startTelling()
    const connection = connections.get(socket)?.number ?? 0
    socket.on('error', () => undefined)
    socket.write('HTTP/1.1 501 Not Implemented\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    socket.destroySoon()
    tell({ kind: 'request', connection, method, path: url, headers: rawHeaders }, momentNow())
    tell({ kind: 'failed', by: 'wiretape', why: 'tunnels are not supported', status: 501 }, momentNow())
  })

  async function closeAll(): Promise<void> {
    const stopped = new Promise((done) => server.close(done))
    for (const connection of connections.values()) connection.destroy('wiretape', 'wiretape is stopping')
    const open = [...sockets].map((socket) => {
      socket.destroy()
      return socket.closed ? undefined : new Promise((done) => socket.once('close', done))
    })
    await Promise.all([stopped, ...open])
  }

  return {
    url: originOf(reachable(host), port) + (barrier?.prefix ?? '') + upstream.pathname,
    remoteUrl:
      barrier?.remotePrefix && originOf(visible(host), port) + barrier.remotePrefix + upstream.pathname,
    hold: (wait) => gate.hold(wait),
    setGatekeeper: (keeper) => (gatekeeper = keeper),
    talks: setting.talks,
    post(like, headers, body, begins) {
      const { exchange, tell } = startTelling()
      begins(exchange)
      const agent = createUpstreamAgent(upstream, { insecure: options.insecure ?? false })
      return postOwn(
        { ...like, headers },
        body,
        { upstream, agent, path: onward(like.path), host: upstream.host },
        tell,
        track,
      )
    },
    async settled(withinMs) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise((done) => (timer = setTimeout(done, withinMs)))
      const open: Promise<unknown>[] = []
      answering.each((response) => open.push(new Promise((done) => response.once('close', done))))
      await Promise.race([Promise.all(open), late])
      clearTimeout(timer)
    },
    close: () => (closing ??= closeAll()),
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
