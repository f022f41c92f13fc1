import type { HttpGatekeeper, HttpLanes } from '../../intercept/index.js'
import type { SeenServer, TrafficSorter } from '../../proxy/index.js'
import type { ExchangeHead, ForwardProxy, Gatekeeper } from '../../transports/index.js'

export interface ServerGatesOptions {
  readonly sorter: TrafficSorter
  readonly proxy: () => ForwardProxy | undefined
  /** Servers are gated from their first message on, so messages of unknown servers must be offered too. */
  readonly fromStart: boolean
}

/** An exchange that belongs to a server. */
interface Placed {
  readonly origin: string
  /** With the exchange's number on the server's tape. */
  readonly head: ExchangeHead
}

/** Gives each server behind a forward proxy its own gate. */
export class ServerGates {
  readonly #options: ServerGatesOptions
  readonly #gates = new Map<string, HttpGatekeeper>()
  /** The sorter forgets finished exchanges; held messages last longer. */
  readonly #known = new WeakMap<ExchangeHead, Placed>()
  /** For the proxy: it offers all messages, and each server's gate gets its own, numbered as on its tape. */
  readonly keeper: Gatekeeper

  constructor(options: ServerGatesOptions) {
    this.#options = options
    this.keeper = {
      wants: (head, side) => {
        const placed = this.#placeOf(head)
        if (placed) return this.#gates.get(placed.origin)?.wants(placed.head, side) ?? false
        // The server of a request may be known only once the whole request is here.
        return (
          (side === 'request' || this.#options.sorter.placeOf(head.exchange) === 'open') &&
          this.#someWant(head, side)
        )
      },
      mustWait: (head, goOn) => {
        const placed = this.#placeOf(head)
        return (placed && this.#gates.get(placed.origin)?.mustWait(placed.head, goOn)) ?? false
      },
      request: (head, body) => {
        this.#options.sorter.whole(head.exchange)
        const placed = this.#placeOf(head)
        const gate = placed && this.#gates.get(placed.origin)
        return gate?.wants(placed!.head, 'request') ? gate.request(placed!.head, body) : undefined
      },
      answer: (head, body) => {
        const placed = this.#placeOf(head)
        return placed && this.#gates.get(placed.origin)?.answer(placed.head, body)
      },
      event: (head, data, passage) => {
        const placed = this.#placeOf(head)
        const gate = placed && this.#gates.get(placed.origin)
        return gate?.wants(placed!.head, 'answer') === true && gate.event(placed!.head, data, passage)
      },
      unseen: (head, side, why) => {
        const placed = this.#placeOf(head)
        if (placed) this.#gates.get(placed.origin)?.unseen(placed.head, side, why)
      },
      lost: (head, why) => {
        const placed = this.#placeOf(head)
        if (placed) this.#gates.get(placed.origin)?.lost(placed.head, why)
      },
    }
  }

  /** The part of the proxy that concerns one server. */
  lanesOf({ origin }: SeenServer): HttpLanes {
    return {
      setGatekeeper: (gate) => {
        if (gate) this.#gates.set(origin, gate)
        else this.#gates.delete(origin)
      },
      talks: {
        posts: () =>
          this.#options
            .proxy()!
            .talks.posts()
            .filter((post) => post.origin === origin),
        streams: () =>
          this.#options
            .proxy()!
            .talks.streams()
            .flatMap((stream) => {
              const placed = this.#placeOf(stream.head)
              if (placed?.origin !== origin) return []
              return [{ ...stream, head: placed.head, inject: (text: string) => stream.inject(text) }]
            }),
      },
      post: (like, headers, body, begins) => {
        const { number, record } = this.#options.sorter.own(origin)
        begins(number)
        return this.#options
          .proxy()!
          .post({ ...like, origin }, headers, body, (happening, { atMs, wallMs }) =>
            record({ ...happening, exchange: number, atMs, wallMs }),
          )
      },
    }
  }

  #placeOf(head: ExchangeHead): Placed | undefined {
    const before = this.#known.get(head)
    if (before) return before
    const found = this.#options.sorter.placeOf(head.exchange)
    if (typeof found !== 'object') return undefined
    const placed = { origin: found.origin, head: { ...head, exchange: found.number } }
    this.#known.set(head, placed)
    return placed
  }

  #someWant(head: ExchangeHead, side: 'request' | 'answer'): boolean {
    return this.#options.fromStart || [...this.#gates.values()].some((gate) => gate.wants(head, side))
  }
}
