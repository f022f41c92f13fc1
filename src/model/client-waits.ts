/**
 * Times during which a server waited for responses of its client: a person fills in a form, a model is sampled, or a
 * message is held on the way. The server's latency excludes these times.
 */
export interface ClientWaits {
  /** Starts a new session: forgets all waits. */
  begin(): void
  /** The HTTP request with the number `exchange` carried a request of the client. */
  carried(exchange: number, request: number): void
  /** A server sent a request to its client; `exchange` is -1 outside HTTP. */
  asked(row: number, us: number, where: { readonly conversation: string; readonly exchange: number }): void
  /** The server has the response, or has cancelled its request. */
  ended(row: number, us: number): void
  /**
   * Microseconds for which the server waited between `fromUs`, when it received a request of its client, and `toUs`,
   * when it answered. A server's request belongs to the client's request whose HTTP response carried it, and to the one
   * which that is linked to; otherwise to every request of the conversation that was open at that time.
   */
  within(request: number, fromUs: number, toUs: number, conversation: () => string): number
}

interface Wait {
  readonly row: number
  readonly fromUs: number
  /** Infinity while the server is waiting. */
  toUs: number
  /** The client's request that caused the server's request; -1 when unknown. */
  readonly request: number
  readonly conversation: string
}

/** Server requests remembered; older ones no longer count. */
const mostWaits = 1024
/** HTTP exchanges remembered; a power of 2. */
const exchangesKept = 4096

/**
 * Row numbers must grow in the order of the recording.
 *
 * @param linked the request that a request is linked to, such as the call of a task; -1 for none
 */
export function createClientWaits(linked: (request: number) => number = () => -1): ClientWaits {
  let waits: Wait[] = []
  const open = new Map<number, Wait>()
  /** Indexed by the low bits of the exchange number. */
  const exchanges = new Float64Array(exchangesKept).fill(-1)
  const requests = new Int32Array(exchangesKept)

  return {
    begin() {
      waits = []
      open.clear()
      exchanges.fill(-1)
    },
    carried(exchange, request) {
      const at = exchange & (exchangesKept - 1)
      // Two requests of a batch: the one that is meant is unknown.
      requests[at] = exchanges[at] === exchange ? -1 : request
      exchanges[at] = exchange
    },
    asked(row, us, { conversation, exchange }) {
      const at = exchange & (exchangesKept - 1)
      const request = exchange >= 0 && exchanges[at] === exchange ? requests[at]! : -1
      const wait = { row, fromUs: us, toUs: Infinity, request, conversation }
      waits.push(wait)
      open.set(row, wait)
      if (waits.length < 2 * mostWaits) return
      for (const { row: old } of waits.splice(0, mostWaits)) open.delete(old)
    },
    ended(row, us) {
      const wait = open.get(row)
      if (!wait) return
      open.delete(row)
      wait.toUs = us
    },
    within(request, fromUs, toUs, conversationOf) {
      let first = waits.length
      while (first > 0 && waits[first - 1]!.row > request) first -= 1
      if (first === waits.length) return 0
      const conversation = conversationOf()
      let total = 0
      let reached = fromUs
      for (; first < waits.length; first += 1) {
        const wait = waits[first]!
        const isMeant =
          wait.request < 0
            ? wait.conversation === conversation
            : wait.request === request || linked(wait.request) === request
        if (!isMeant) continue
        // Overlapping waits count once.
        const end = Math.min(wait.toUs, toUs)
        total += Math.max(0, end - Math.max(wait.fromUs, reached))
        reached = Math.max(reached, end)
      }
      return total
    },
  }
}
