import type { HttpHeaders, HttpPhases, PlainId } from '../model/index.js'
import type { SseParser } from '../wire/index.js'
import type { Decoder, HttpBody } from './http-body.js'
import type { Ref } from './message-refs.js'
import { forRecent } from './recent-objects.js'

/** A request of an exchange. */
export interface AskedHere {
  readonly ref: Ref
  readonly id: PlainId
  answered: boolean
  /** Of the modern era, where a result may ask for another round. */
  readonly modern: boolean
  /** A `tools/list` of the modern era: its result names the arguments that calls repeat in headers. */
  readonly listsTools: boolean
}

/** The requests of an exchange, by id. Most exchanges have one. */
export class AskedRequests {
  #first: AskedHere | undefined
  #all: Map<PlainId, AskedHere> | undefined

  /** The only request. */
  get only(): AskedHere | undefined {
    return this.#all ? undefined : this.#first
  }

  get(id: PlainId): AskedHere | undefined {
    return this.#all ? this.#all.get(id) : this.#first?.id === id ? this.#first : undefined
  }

  /** @param id may be another one than that of the request */
  set(id: PlainId, asked: AskedHere): void {
    if (!this.#all && id === asked.id && (!this.#first || this.#first.id === id)) {
      this.#first = asked
      return
    }
    this.#all ??= new Map(this.#first && [[this.#first.id, this.#first]])
    this.#all.set(id, asked)
  }

  values(): Iterable<AskedHere> {
    return this.#all?.values() ?? (this.#first ? [this.#first] : [])
  }
}

/** The state of one HTTP exchange. */
export interface HttpExchange {
  readonly number: number
  readonly connection: number
  readonly method: string
  /** The target, unredacted. */
  readonly address: { readonly exchange: number; readonly path: string; readonly origin?: string }
  /** Redacted. */
  readonly path: string
  readonly requestHead: Head
  conversation: string
  readonly requestBody: HttpBody
  readonly requests: AskedRequests
  /** Whether a record contains the request's headers. */
  requestTold: boolean
  /** Whether the request's body has ended. A server may respond earlier. */
  requestEnded: boolean
  /** Whether the request's body was recorded. */
  requestRead: boolean
  responseEnded: boolean
  /** A request body that was not JSON-RPC; redacted. */
  requestText?: string
  response?: HttpResponse
}

export interface HttpResponse {
  readonly status: number
  readonly head: Head
  readonly phases: HttpPhases | undefined
  /** Whether a record contains status and headers. */
  told: boolean
  readonly body: HttpBody
  /** Defined for an event stream. */
  readonly events: SseParser | undefined
  decoder: Decoder | undefined
  /** Whether the body has no content coding. */
  readonly isPlain: boolean
  /** The reason why the body is not read. */
  opaque: string | undefined
  /** Whether the next event of the stream is the rest of a lost one. */
  isCut: boolean
}

/** Whether the request's body is complete according to its Content-Length. */
export function isWhole({ requestHead, requestBody }: HttpExchange): boolean {
  return requestHead.length === requestBody.sizeBytes
}

/** @param name in lower case */
export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  for (const [known, value] of headers)
    if (known.length === name.length && known.toLowerCase() === name) return value
  return undefined
}

/** `text/event-stream` for `text/event-stream; charset=utf-8`. */
export function mediaTypeOf(headers: HttpHeaders): string {
  return (headerOf(headers, 'content-type') ?? '').split(';')[0]!.trim().toLowerCase()
}

/** Node's flat list as pairs. */
export const pairsOf: (rawHeaders: readonly string[]) => HttpHeaders = forRecent((rawHeaders) => {
  const pairs: (readonly [string, string])[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) pairs.push([rawHeaders[i]!, rawHeaders[i + 1]!])
  return pairs
})

/** The headers of a message, and what they say of its session and its body. */
export interface Head {
  /** Unredacted. */
  readonly headers: HttpHeaders
  readonly session: string | undefined
  readonly isStream: boolean
  /** The content coding. */
  readonly coding: string | undefined
  readonly length: number | undefined
}

/** @param rawHeaders Node's flat list */
export const headOf: (rawHeaders: readonly string[]) => Head = forRecent((rawHeaders) => {
  const headers = pairsOf(rawHeaders)
  const length = headerOf(headers, 'content-length')
  return {
    headers,
    session: headerOf(headers, 'mcp-session-id'),
    isStream: mediaTypeOf(headers) === 'text/event-stream',
    coding: headerOf(headers, 'content-encoding'),
    length: length === undefined ? undefined : Number(length),
  }
})
