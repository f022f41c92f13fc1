import type { HttpHeaders, HttpPhases } from '../model/index.js'
import type { SseParser } from '../wire/index.js'
import type { Decoder, HttpBody } from './http-body.js'
import { forRecent } from './recent-texts.js'

export interface AskedHere {
  readonly ref: string
  /** Exact text of its id. */
  readonly id: string
  answered: boolean
  /** It asks, in the modern era, for the tools: the answer says what headers calls need. */
  readonly listsTools: boolean
}

/** What is known about one HTTP exchange while it goes on. */
export interface HttpExchange {
  readonly number: number
  readonly connection: number
  readonly method: string
  /** Where it goes, as sent. */
  readonly address: { readonly exchange: number; readonly path: string; readonly origin?: string }
  /** Redacted. */
  readonly path: string
  /** As sent. */
  readonly requestHeaders: HttpHeaders
  conversation: string
  readonly requestBody: HttpBody
  /** Requests that its response may answer, by the key of their id. */
  readonly requests: Map<string, AskedHere>
  /** A message has told the headers. */
  requestTold: boolean
  /** A server may answer before it has heard everything. */
  requestEnded: boolean
  /** What its body says is on the tape. */
  requestRead: boolean
  responseEnded: boolean
  /** Body of a request that was no JSON-RPC; redacted. */
  requestText?: string
  response?: HttpResponse
}

export interface HttpResponse {
  readonly status: number
  /** As sent. */
  readonly headers: HttpHeaders
  readonly phases?: HttpPhases
  /** A message has told status and headers. */
  told: boolean
  readonly body: HttpBody
  /** Set for an event stream. */
  readonly events: SseParser | undefined
  decoder: Decoder | undefined
  /** Why the body is not read. */
  opaque?: string
  /** The next event of the stream is the rest of one that was lost. */
  isCut?: boolean
}

/** All of the request's body is there, as far as its length says. */
export function isWhole({ requestHeaders, requestBody }: HttpExchange): boolean {
  return headerOf(requestHeaders, 'content-length') === String(requestBody.sizeBytes)
}

/** @param name in lower case */
export function headerOf(headers: HttpHeaders, name: string): string | undefined {
  for (const [known, value] of headers)
    if (known.length === name.length && known.toLowerCase() === name) return value
  return undefined
}

/** `text/event-stream` of `text/event-stream; charset=utf-8`. */
export function mediaTypeOf(headers: HttpHeaders): string {
  return (headerOf(headers, 'content-type') ?? '').split(';')[0]!.trim().toLowerCase()
}

/** Node's flat list as pairs. */
export const pairsOf: (rawHeaders: readonly string[]) => HttpHeaders = forRecent((rawHeaders) => {
  const pairs: (readonly [string, string])[] = []
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) pairs.push([rawHeaders[i]!, rawHeaders[i + 1]!])
  return pairs
})
