import type { HttpEvent, ArrivalTime } from '../../transports/index.js'
import { HeldExchange, longestLook } from './held-exchange.js'
import { pairsOf } from '../http-exchange.js'
import { rpcSignOf, rpcSignOfStart } from './mcp-body.js'
import { createOAuthPlaces, isFallback, isMetadata, resourceOf, tokenOf } from './oauth-places.js'

/** An MCP server that was seen. */
export interface SeenServer {
  readonly origin: string
  /** Where it is spoken to. */
  readonly url: URL
  readonly transport: 'streamable-http' | 'sse'
}

/** Tells MCP, and the OAuth around it, from everything else that passes a proxy. */
export interface TrafficSorter {
  event(event: HttpEvent): void
  /** Whose an exchange is, and its number on his tape; `open` while that is not known, undefined when it is nobody's, or over. */
  placeOf(exchange: number): { readonly origin: string; readonly number: number } | 'open' | undefined
  /** The body of its request is here to its end, which is told later: decides about it as far as that is possible now. */
  whole(exchange: number): void
  /** An exchange of our own with a server that was seen. */
  own(origin: string): { readonly number: number; readonly record: (event: HttpEvent) => void }
  /** How many requests went to which origin. */
  readonly requests: ReadonlyMap<string, number>
}

export interface SorterOptions {
  /**
   * A server is seen for the first time. What it gives back gets the events of its exchanges, which are numbered for
   * it. `bytes` are the caller's only during the call.
   *
   * @param since when the first of them began
   */
  open(server: SeenServer, since: ArrivalTime): (event: HttpEvent) => void
}

/** Bytes of exchanges that nothing is known of yet. */
const mostHeldBytes = 16 * 1024 * 1024
/** Exchanges of OAuth that came before the server that they are for. */
const mostWaiting = 64
/** Origins that are counted. */
const mostOrigins = 1_000
/** Where a stream has to say that it is one of MCP. */
const longestFirstEvent = 4_096

type Verdict =
  | { readonly kind: 'server'; readonly origin: string }
  /** OAuth, of whom is not known. */
  | { readonly kind: 'waits' }
  | { readonly kind: 'nothing' }
  /** More has to come. */
  | undefined

interface Server {
  readonly origin: string
  readonly record: (event: HttpEvent) => void
  exchanges: number
}

/** An exchange that belongs to a server. */
interface Told {
  readonly server: Server
  /** Of the exchange, among those of its server. */
  readonly number: number
  /** Sides that are at their end. */
  ended: number
  /** Where what it says is of use for others. */
  readonly learner?: HeldExchange
}

export function createTrafficSorter(options: SorterOptions): TrafficSorter {
  return new Sorter(options)
}

class Sorter implements TrafficSorter {
  readonly #options: SorterOptions
  readonly #servers = new Map<string, Server>()
  /** URLs at which MCP was spoken. */
  readonly #mcpUrls = new Set<string>()
  readonly #places = createOAuthPlaces()
  readonly #fates = new Map<number, HeldExchange | Told>()
  /** Exchanges of OAuth that are over, and whose server is not known. */
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
    // Its body may say which server it is about.
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

  /** HTTP+SSE (2024-11-05) begins with a GET, whose first event tells where to POST. */
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

  /** The server that an exchange of OAuth belongs to. */
  #ownerOf(held: HeldExchange, isForm: boolean): string | undefined {
    const { url } = held
    const owner = this.#places.ownerOf(url)
    // Several servers may have one authorization server: the resource that a token is for tells them apart.
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
   * Finds the servers of what has been waiting, since more is known.
   *
   * @param asked a request to the server `origin`, which may show the token that it was given
   */
  #settle(asked?: HeldExchange, origin?: string): void {
    const bearer = /^Bearer +(\S+)/i.exec(asked?.header('authorization') ?? '')?.[1]
    for (const entry of this.#waiting.slice()) {
      const { number, held } = entry
      // Another one may have told of it.
      if (!this.#waiting.includes(entry)) continue
      const isForm = held.method === 'POST'
      const isHis = isForm && bearer !== undefined && bearer === tokenOf(held.responseText)
      const owner = isHis ? origin : this.#ownerOf(held, isForm)
      if (owner === undefined) continue
      this.#waiting = this.#waiting.filter((other) => other !== entry)
      this.#hand(number, held, owner)
    }
  }

  /** It is the server's from now on, with all that was held. */
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

/** Headers that only MCP has. */
function speaksMcp(held: HeldExchange): boolean {
  return ['mcp-protocol-version', 'mcp-session-id', 'mcp-method'].some(
    (name) => held.header(name) !== undefined,
  )
}

/** As clients of Streamable HTTP must. */
function acceptsBoth(held: HeldExchange): boolean {
  const accept = held.header('accept') ?? ''
  return /application\/json/i.test(accept) && /text\/event-stream/i.test(accept)
}

function isTokenRequest(held: HeldExchange): boolean {
  return new URLSearchParams(held.requestText).has('grant_type')
}

/** The origin of the MCP server that a token is asked for (RFC 8707). */
function resourceParameterOf(url: URL, form: string): string | undefined {
  const resource = url.searchParams.get('resource') ?? new URLSearchParams(form).get('resource')
  return resource !== null && URL.canParse(resource) ? new URL(resource).origin : undefined
}

/** The URL in the first event of a stream of HTTP+SSE. */
function endpointIn(text: string): string | undefined {
  const lines = text.slice(0, longestFirstEvent).split(/\r\n|\r|\n/)
  const end = lines.indexOf('')
  if (end === -1 || !lines.slice(0, end).some((line) => /^event: ?endpoint$/.test(line))) return undefined
  return lines.find((line) => line.startsWith('data:'))?.replace(/^data: ?/, '')
}

function placeOf({ origin, pathname }: URL): string {
  return origin + pathname
}
