/**
 * When a server waited for answers of its client: a person who fills in a form, a model that is sampled, a message that
 * is held on the way. That time is not the server's, so no latency of its answers counts it.
 */
export interface ClientWaits {
  /** A new session: nobody waits any more. */
  begin(): void
  /** A request of the client came in the request of this HTTP exchange. */
  carried(exchange: number, request: number): void
  /** A server asked its client something; `exchange` is -1 where it was not in HTTP. */
  asked(row: number, us: number, where: { readonly conversation: string; readonly exchange: number }): void
  /** The server has the answer, or takes its question back. */
  ended(row: number, us: number): void
  /**
   * Microseconds for which the server waited between `fromUs` and `toUs`, when it began to work on a request of its client
   * and when it answered that. A question belongs to the request in whose HTTP response it stood; where nothing says so, to
   * every request of the conversation that was open when it was asked.
   */
  within(request: number, fromUs: number, toUs: number, conversation: () => string): number
}

interface Wait {
  readonly row: number
  readonly fromUs: number
  /** Infinity while it goes on. */
  toUs: number
  /** The request on behalf of which it was asked; -1 where nothing says so. */
  readonly request: number
  readonly conversation: string
}

/** Questions that are remembered; older ones do not count any more. */
const mostWaits = 1024
/** HTTP exchanges that are remembered; a power of 2. */
const exchangesKept = 4096

/** Rows are numbers that grow in the order of the recording. */
export function createClientWaits(): ClientWaits {
  let waits: Wait[] = []
  const open = new Map<number, Wait>()
  /** By the last bits of the number of the exchange. */
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
      // Two requests of a batch: which one is meant is not known.
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
        const isMeant = wait.request < 0 ? wait.conversation === conversation : wait.request === request
        if (!isMeant) continue
        // Two questions at a time are waited for once.
        const end = Math.min(wait.toUs, toUs)
        total += Math.max(0, end - Math.max(wait.fromUs, reached))
        reached = Math.max(reached, end)
      }
      return total
    },
  }
}
