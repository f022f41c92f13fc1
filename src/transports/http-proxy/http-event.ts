import type { RawHeaders } from '../../wire/index.js'
import type { HttpPhases } from '../../model/index.js'

/** Arrival of bytes, before they were forwarded. */
export interface ArrivalTime {
  /** By `performance.now()`. */
  readonly atMs: number
  /** Milliseconds since the epoch. */
  readonly wallMs: number
}

/** The side that ended an exchange early. */
export type Breaker = 'client' | 'upstream' | 'wiretape'

/** The events of one exchange. */
export type HttpHappening =
  | {
      readonly kind: 'request'
      /** 0-based number of the client's connection. */
      readonly connection: number
      readonly method: string
      /** Path and query as received from the client. */
      readonly path: string
      /** Origin of the upstream, where a proxy has many. */
      readonly origin?: string
      readonly headers: RawHeaders
    }
  | { readonly kind: 'request-body'; readonly bytes: Uint8Array }
  | { readonly kind: 'request-end' }
  /** @property headers as received from the upstream, before any rewriting */
  | {
      readonly kind: 'response'
      readonly status: number
      readonly headers: RawHeaders
      readonly phases?: HttpPhases
    }
  /** @property bytes as received from the upstream, before any rewriting */
  | { readonly kind: 'response-body'; readonly bytes: Uint8Array }
  | { readonly kind: 'response-end' }
  /** The exchange ended early; no further events follow. */
  | {
      readonly kind: 'failed'
      readonly by: Breaker
      readonly why: string
      /** The status of our own response in place of the upstream's, where one was possible. */
      readonly status?: number
    }

/**
 * The events of an HTTP exchange, in order, after forwarding. An exchange begins with `request` and ends with
 * `failed`, or with both `request-end` and `response-end`, in any order. `bytes` belong to the caller and are valid
 * only during the call.
 */
export type HttpEvent = HttpHappening &
  ArrivalTime & {
    /** 0-based number of the exchange. */
    readonly exchange: number
  }

/** A server's message that no client of its session could receive. It belongs to a session, but to no exchange. */
export interface UnheardMessage extends ArrivalTime {
  readonly kind: 'unheard'
  /** The value of `Mcp-Session-Id`. */
  readonly session: string
  readonly bytes: Uint8Array
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/**
 * Turns a happening into an event by extending it in place: at thousands a second, a copy or a spread costs more than
 * all the rest of handing it on.
 */
export function eventOf(
  happening: HttpHappening,
  exchange: number,
  { atMs, wallMs }: ArrivalTime,
): HttpEvent {
  const event = happening as Writable<HttpEvent>
  event.exchange = exchange
  event.atMs = atMs
  event.wallMs = wallMs
  return event
}

export function momentNow(): ArrivalTime {
  return { atMs: performance.now(), wallMs: Date.now() }
}

/** Reports an event of one exchange. */
export type Tell = (happening: HttpHappening, moment: ArrivalTime) => void
