import type { HttpGatekeeper, HttpLanes } from '../../intercept/index.js'
import type { SeenServer, TrafficSorter } from '../../proxy/index.js'
import type { ExchangeHead, ForwardProxy, Gatekeeper } from '../../transports/index.js'

/** Gives each server behind a forward proxy its own gate. */
export interface ServerGates {
  /** For the proxy: it offers all messages, and each server's gate gets its own, numbered as on its tape. */
  readonly keeper: Gatekeeper
  /** The part of the proxy that concerns one server. */
  lanesOf(server: SeenServer): HttpLanes
}

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

export function createServerGates({ sorter, proxy, fromStart }: ServerGatesOptions): ServerGates {
  const gates = new Map<string, HttpGatekeeper>()
  /** The sorter forgets finished exchanges; held messages last longer. */
  const known = new WeakMap<ExchangeHead, Placed>()

  function placeOf(head: ExchangeHead): Placed | undefined {
    const before = known.get(head)
    if (before) return before
    const found = sorter.placeOf(head.exchange)
    if (typeof found !== 'object') return undefined
    const placed = { origin: found.origin, head: { ...head, exchange: found.number } }
    known.set(head, placed)
    return placed
  }

  function someWant(head: ExchangeHead, side: 'request' | 'answer'): boolean {
    return fromStart || [...gates.values()].some((gate) => gate.wants(head, side))
  }

  const keeper: Gatekeeper = {
    wants(head, side) {
      const placed = placeOf(head)
      if (placed) return gates.get(placed.origin)?.wants(placed.head, side) ?? false
      // The server of a request may be known only once the whole request is here.
      return (side === 'request' || sorter.placeOf(head.exchange) === 'open') && someWant(head, side)
    },
    mustWait(head, goOn) {
      const placed = placeOf(head)
      return (placed && gates.get(placed.origin)?.mustWait(placed.head, goOn)) ?? false
    },
    request(head, body) {
      sorter.whole(head.exchange)
      const placed = placeOf(head)
      const gate = placed && gates.get(placed.origin)
      return gate?.wants(placed!.head, 'request') ? gate.request(placed!.head, body) : undefined
    },
    answer(head, body) {
      const placed = placeOf(head)
      return placed && gates.get(placed.origin)?.answer(placed.head, body)
    },
    event(head, data, passage) {
      const placed = placeOf(head)
      const gate = placed && gates.get(placed.origin)
      return gate?.wants(placed!.head, 'answer') === true && gate.event(placed!.head, data, passage)
    },
    unseen(head, side, why) {
      const placed = placeOf(head)
      if (placed) gates.get(placed.origin)?.unseen(placed.head, side, why)
    },
    lost(head, why) {
      const placed = placeOf(head)
      if (placed) gates.get(placed.origin)?.lost(placed.head, why)
    },
  }

  return {
    keeper,
    lanesOf({ origin }) {
      return {
        setGatekeeper(gate) {
          if (gate) gates.set(origin, gate)
          else gates.delete(origin)
        },
        talks: {
          posts: () =>
            proxy()!
              .talks.posts()
              .filter((post) => post.origin === origin),
          streams: () =>
            proxy()!
              .talks.streams()
              .flatMap((stream) => {
                const placed = placeOf(stream.head)
                if (placed?.origin !== origin) return []
                return [{ ...stream, head: placed.head, inject: (text: string) => stream.inject(text) }]
              }),
        },
        post(like, headers, body, begins) {
          const { number, record } = sorter.own(origin)
          begins(number)
          return proxy()!.post({ ...like, origin }, headers, body, (happening, { atMs, wallMs }) =>
            record({ ...happening, exchange: number, atMs, wallMs }),
          )
        },
      }
    },
  }
}
