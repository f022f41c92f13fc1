import type { HttpEvent, ArrivalTime } from '../../transports/index.js'
import { HeldExchange, longestLook } from './held-exchange.js'
import { pairsOf } from '../http-exchange.js'
import { rpcSignOf, rpcSignOfStart } from './mcp-body.js'
import { createOAuthPlaces, isFallback, isMetadata, resourceOf, tokenOf } from './oauth-places.js'

/** A detected MCP server. */
export interface SeenServer {
  readonly origin: string
  /** The URL of its endpoint. */
  readonly url: URL
  readonly transport: 'streamable-http' | 'sse'
}

/** Separates MCP, and its OAuth traffic, from all other traffic of a proxy. */
export interface TrafficSorter {
  event(event: HttpEvent): void
  /** The server of an exchange and the number on its tape; `open`: undecided; undefined: no server, or over. */
  placeOf(exchange: number): { readonly origin: string; readonly number: number } | 'open' | undefined
  /** The request's body is complete, before its end is reported. Decides about the exchange as far as possible. */
  whole(exchange: number): void
  /** An exchange of our own with a detected server. */
  own(origin: string): { readonly number: number; readonly record: (event: HttpEvent) => void }
  /** Number of requests per origin. */
  readonly requests: ReadonlyMap<string, number>
}

export interface SorterOptions {
  /**
   * A server is detected. The returned function gets the events of its exchanges, which are numbered per server.
   * `bytes` belong to the caller and are valid only during the call.
   *
   * @param since start of its first exchange
   */
  open(server: SeenServer, since: ArrivalTime): (event: HttpEvent) => void
}

/** Memory limit of undecided exchanges, in bytes. */
const mostHeldBytes = 16 * 1024 * 1024
/** OAuth exchanges that may wait for the detection of their server. */
const mostWaiting = 64
/** Origins whose requests are counted. */
const mostOrigins = 1_000
/** Characters in which a stream must show that it belongs to MCP. */
const longestFirstEvent = 4_096

type Verdict =
  | { readonly kind: 'server'; readonly origin: string }
  /** OAuth for an unknown server. */
  | { readonly kind: 'waits' }
  | { readonly kind: 'nothing' }
  /** Undecided. */
  | undefined

interface Server {
  readonly origin: string
  readonly record: (event: HttpEvent) => void
  exchanges: number
}

/** An exchange that belongs to a server. */
interface Told {
  readonly server: Server
  /** Number of the exchange on its server's tape. */
  readonly number: number
  /** Number of sides that have ended. */
  ended: number
  /** Collects a response that may contain OAuth metadata. */
  readonly learner?: HeldExchange
}

export function createTrafficSorter(options: SorterOptions): TrafficSorter {
  return new Sorter(options)
}

class Sorter implements TrafficSorter {
  readonly #options: SorterOptions
  readonly #servers = new Map<string, Server>()
  /** URLs with MCP traffic. */
  readonly #mcpUrls = new Set<string>()
  readonly #places = createOAuthPlaces()
  readonly #fates = new Map<number, HeldExchange | Told>()
  /** Completed OAuth exchanges of an unknown server. */
  #waiting: { readonly number: number; readonly held: HeldExchange }[] = []
  readonly #requests = new Map<string, number>()
  #heldBytes = 0

  constructor(options: SorterOptions) {
    this.#options = options
  }

  get requests(): ReadonlyMap<string, number> {
    return this.#requests
  }

  placeOf(exchange: number): { readonly origin: string; readonly number: number } | 'open' | undefined {
    const fate = this.#fates.get(exchange)
    if (!fate) return undefined
    return fate instanceof HeldExchange ? 'open' : { origin: fate.server.origin, number: fate.number }
  }

  whole(exchange: number): void {
    const fate = this.#fates.get(exchange)
    if (!(fate instanceof HeldExchange)) return
    fate.requestEnded = true
    this.#decide(exchange, fate)
  }

  own(origin: string): { readonly number: number; readonly record: (event: HttpEvent) => void } {
    const server = this.#servers.get(origin)!
    const number = server.exchanges
    server.exchanges += 1
    return { number, record: server.record }
  }

  event(event: HttpEvent): void {
    if (event.kind === 'request') this.#begin(event)
    const fate = this.#fates.get(event.exchange)
    if (!fate) return
    if (fate instanceof HeldExchange) {
      this.#heldBytes -= fate.sizeBytes
      fate.add(event)
      this.#heldBytes += fate.sizeBytes
      return this.#decide(event.exchange, fate)
    }
    this.#tell(event, fate)
    if (!fate.learner) return
    fate.learner.add(event)
    fate.learner.release()
    if (fate.learner.over) this.#learn(fate.learner, fate.server.origin)
  }

  #begin(event: Extract<HttpEvent, { kind: 'request' }>): void {
    const text = (event.origin ?? '') + event.path
    if (!URL.canParse(text)) return
    const url = new URL(text)
    if (this.#requests.has(url.origin) || this.#requests.size < mostOrigins)
      this.#requests.set(url.origin, (this.#requests.get(url.origin) ?? 0) + 1)
    this.#fates.set(event.exchange, new HeldExchange(event, url))
  }

  #decide(number: number, held: HeldExchange): void {
    const verdict = this.#verdictOn(held)
    if (verdict?.kind === 'server') {
      if (this.#waiting.length > 0) this.#settle(held, verdict.origin)
      this.#hand(number, held, verdict.origin)
    } else if (verdict?.kind === 'nothing' || this.#heldBytes > mostHeldBytes) {
      this.#heldBytes -= held.sizeBytes
      this.#fates.delete(number)
    } else if (verdict?.kind === 'waits' && held.over) {
      this.#fates.delete(number)
      this.#waiting.push({ number, held })
      if (this.#waiting.length > mostWaiting) this.#heldBytes -= this.#waiting.shift()!.held.sizeBytes
    }
  }

  #verdictOn(held: HeldExchange): Verdict {
    const { url, method } = held
    const isForm = method === 'POST' && held.mediaType === 'application/x-www-form-urlencoded'
    // The body may name the server.
    if (isForm && !held.requestEnded && !held.over) return undefined
    const origin = this.#ownerOf(held, isForm)
    if (origin !== undefined) return { kind: 'server', origin }
    if (isMetadata(url)) return { kind: 'waits' }
    if (this.#mcpUrls.has(placeOf(url)) || speaksMcp(held)) return this.#mcp(held, 'streamable-http')
    if (method === 'GET') return this.#verdictOnStream(held)
    if (method !== 'POST') return { kind: 'nothing' }
    if (isForm && isTokenRequest(held)) return { kind: 'waits' }
    return this.#verdictOnBody(held)
  }

  #verdictOnBody(held: HeldExchange): Verdict {
    const isLong = held.requestBytes > longestLook
    if (!held.requestEnded && !isLong && !held.over) return undefined
    const sign = isLong ? rpcSignOfStart(held.requestText) : rpcSignOf(held.requestText)
    if (sign === 'mcp' || (sign !== undefined && acceptsBoth(held))) return this.#mcp(held, 'streamable-http')
    return { kind: 'nothing' }
  }

  /** HTTP+SSE (2024-11-05) begins with a GET. The first event of its response names the endpoint for POST. */
  #verdictOnStream(held: HeldExchange): Verdict {
    const nothing = { kind: 'nothing' } as const
    if (!/text\/event-stream/i.test(held.header('accept') ?? '')) return nothing
    if (held.status === undefined) return held.over ? nothing : undefined
    const type = held.responseHeader('content-type') ?? ''
    if (held.status !== 200 || !/^text\/event-stream/i.test(type)) return nothing
    const text = held.responseText
    const endpoint = endpointIn(text)
    if (endpoint === undefined) return text.length > longestFirstEvent || held.over ? nothing : undefined
    if (URL.canParse(endpoint, held.url.href)) this.#mcpUrls.add(placeOf(new URL(endpoint, held.url.href)))
    return this.#mcp(held, 'sse')
  }

  /** The server to which an OAuth exchange belongs. */
  #ownerOf(held: HeldExchange, isForm: boolean): string | undefined {
    const { url } = held
    const owner = this.#places.ownerOf(url)
    // Several servers may share an authorization server. The resource of the token distinguishes them.
    if (owner !== undefined || isForm) {
      const resource = resourceParameterOf(url, isForm ? held.requestText : '')
      if (resource !== undefined && this.#servers.has(resource)) return resource
    }
    if (owner !== undefined && this.#servers.has(owner)) return owner
    if (!isMetadata(url) && !isFallback(url)) return undefined
    const spokenOf = isMetadata(url) && held.over ? resourceOf(held.responseText) : undefined
    return [spokenOf, url.origin].find((origin) => origin !== undefined && this.#servers.has(origin))
  }

  #mcp({ url, began }: HeldExchange, transport: SeenServer['transport']): Verdict {
    const { origin } = url
    this.#mcpUrls.add(placeOf(url))
    if (!this.#servers.has(origin)) {
      const record = this.#options.open({ origin, url, transport }, began)
      this.#servers.set(origin, { origin, record, exchanges: 0 })
    }
    return { kind: 'server', origin }
  }

  /**
   * Assigns waiting exchanges to servers, with the knowledge gained since.
   *
   * @param asked a request to the server `origin`, which may contain the token of a waiting exchange
   */
  #settle(asked?: HeldExchange, origin?: string): void {
    const bearer = /^Bearer +(\S+)/i.exec(asked?.header('authorization') ?? '')?.[1]
    for (const entry of this.#waiting.slice()) {
      const { number, held } = entry
      // An earlier iteration may have assigned it.
      if (!this.#waiting.includes(entry)) continue
      const isForm = held.method === 'POST'
      const isHis = isForm && bearer !== undefined && bearer === tokenOf(held.responseText)
      const owner = isHis ? origin : this.#ownerOf(held, isForm)
      if (owner === undefined) continue
      this.#waiting = this.#waiting.filter((other) => other !== entry)
      this.#hand(number, held, owner)
    }
  }

  /** Assigns an exchange and its kept events to a server. */
  #hand(number: number, held: HeldExchange, origin: string): void {
    const server = this.#servers.get(origin)!
    const isLearner = held.method === 'GET' && !this.#mcpUrls.has(placeOf(held.url))
    const told: Told = { server, number: server.exchanges, ended: 0, ...(isLearner && { learner: held }) }
    server.exchanges += 1
    this.#heldBytes -= held.sizeBytes
    this.#fates.set(number, told)
    for (const event of held.release()) this.#tell(event, told)
    if (told.learner && held.over) this.#learn(held, origin)
  }

  #tell(event: HttpEvent, told: Told): void {
    const { server } = told
    server.record({ ...event, exchange: told.number })
    if (event.kind === 'response' && (event.status === 401 || event.status === 403)) {
      for (const [name, value] of pairsOf(event.headers))
        if (name.toLowerCase() === 'www-authenticate') this.#places.challenged(server.origin, value)
    }
    if (event.kind === 'request-end' || event.kind === 'response-end') told.ended += 1
    if (event.kind === 'failed' || told.ended === 2) this.#fates.delete(event.exchange)
  }

  #learn(held: HeldExchange, origin: string): void {
    if (held.status !== 200) return
    this.#places.learn(origin, held.responseText)
    this.#settle()
  }
}

/** Whether the request has a header that exists only in MCP. */
function speaksMcp(held: HeldExchange): boolean {
  return ['mcp-protocol-version', 'mcp-session-id', 'mcp-method'].some(
    (name) => held.header(name) !== undefined,
  )
}

/** As required of Streamable HTTP clients. */
function acceptsBoth(held: HeldExchange): boolean {
  const accept = held.header('accept') ?? ''
  return /application\/json/i.test(accept) && /text\/event-stream/i.test(accept)
}

function isTokenRequest(held: HeldExchange): boolean {
  return new URLSearchParams(held.requestText).has('grant_type')
}

/** The origin of the MCP server for which a token is requested (RFC 8707). */
function resourceParameterOf(url: URL, form: string): string | undefined {
  const resource = url.searchParams.get('resource') ?? new URLSearchParams(form).get('resource')
  return resource !== null && URL.canParse(resource) ? new URL(resource).origin : undefined
}

/** The URL in the first event of an HTTP+SSE stream. */
function endpointIn(text: string): string | undefined {
  const lines = text.slice(0, longestFirstEvent).split(/\r\n|\r|\n/)
  const end = lines.indexOf('')
  if (end === -1 || !lines.slice(0, end).some((line) => /^event: ?endpoint$/.test(line))) return undefined
  return lines.find((line) => line.startsWith('data:'))?.replace(/^data: ?/, '')
}

function placeOf({ origin, pathname }: URL): string {
  return origin + pathname
}
