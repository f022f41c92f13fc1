import type { HttpPhases } from '../../model/index.js'

/** When something came, before it was passed on. */
export interface ArrivalTime {
  /** By `performance.now()`. */
  readonly atMs: number
  /** Milliseconds since the epoch. */
  readonly wallMs: number
}

/** Who ended an exchange early. */
export type Breaker = 'client' | 'upstream' | 'wiretape'

/** Header names and values in turns, as they were received: `name, value, name, value, …`. */
export type RawHeaders = readonly string[]

/** What can happen in one exchange. */
export type HttpHappening =
  | {
      readonly kind: 'request'
      /** 0-based number of the client's connection. */
      readonly connection: number
      readonly method: string
      /** Path and query as the client sent them. */
      readonly path: string
      /** Of the upstream, where a proxy has many. */
      readonly origin?: string
      readonly headers: RawHeaders
    }
  | { readonly kind: 'request-body'; readonly bytes: Uint8Array }
  | { readonly kind: 'request-end' }
  /** @property headers as the upstream sent them, before anything was rewritten */
  | {
      readonly kind: 'response'
      readonly status: number
      readonly headers: RawHeaders
      readonly phases?: HttpPhases
    }
  /** @property bytes as the upstream sent them, before anything was rewritten */
  | { readonly kind: 'response-body'; readonly bytes: Uint8Array }
  | { readonly kind: 'response-end' }
  /** The exchange ended early; nothing else is told of it. */
  | {
      readonly kind: 'failed'
      readonly by: Breaker
      readonly why: string
      /** What we answered in the upstream's place, where we could. */
      readonly status?: number
    }

/**
 * What passed in one HTTP exchange, told in the order in which it happened, after it was passed on. An
 * exchange begins with `request` and is over with `failed`, or with both `request-end` and `response-end`,
 * in any order. `bytes` are the caller's only during the call.
 */
export type HttpEvent = HttpHappening &
  ArrivalTime & {
    /** 0-based number of the exchange. */
    readonly exchange: number
  }

/**
 * A message of a server that no client of its session was there to hear: it belongs to a session, and to no exchange.
 */
export interface UnheardMessage extends ArrivalTime {
  readonly kind: 'unheard'
  /** As in `Mcp-Session-Id`. */
  readonly session: string
  readonly bytes: Uint8Array
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/**
 * Makes an event of what happened, which becomes a part of it: a copy, or a spread, of thousands a second costs the
 * engine more than telling them.
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
