/** Endpoints that are remembered. */
const remembered = 10_000

/** Longer ones are not remembered: no request could go there, since all headers together have 256 KB. */
const longestEndpoint = 8_192

/** A request, or an event stream, by where it goes. */
export interface Addressed {
  readonly path: string
  /** Of the upstream, where a proxy has many. */
  readonly origin?: string
}

/**
 * Where clients of HTTP+SSE (2024-11-05) were told to POST: what comes there belongs to the talk of the stream that
 * said so, wherever the server puts its session.
 */
export interface Endpoints {
  /**
   * A stream named its endpoint.
   *
   * @param endpoint as it said: a path, perhaps relative, or a URL
   */
  named(endpoint: string, stream: Addressed & { readonly exchange: number }, conversation: string): void
  /** The stream is over. */
  over(exchange: number): void
  /** Whether that was named, by however many. */
  has(request: Addressed): boolean
  /** Whose talk it is. Undefined for what nobody named, and for what two streams named at the same time. */
  of(request: Addressed): string | undefined
}

interface Named {
  readonly exchange: number
  readonly conversation: string
  isShared: boolean
}

export function createEndpoints(): Endpoints {
  const known = new Map<string, Named>()
  /** Streams that are open, and their endpoints. */
  const open = new Map<number, string>()
  const keyOf = ({ path, origin = '' }: Addressed): string => `${origin}${path}`

  return {
    named(endpoint, { exchange, ...stream }, conversation) {
      const place = placeOf(endpoint, stream)
      if (place === undefined) return
      const key = keyOf(place)
      const before = known.get(key)
      const isShared =
        before !== undefined && before.exchange !== exchange && (before.isShared || open.has(before.exchange))
      known.delete(key)
      if (known.size >= remembered) known.delete(known.keys().next().value!)
      known.set(key, { exchange, conversation, isShared })
      if (open.size >= remembered) open.delete(open.keys().next().value!)
      open.set(exchange, key)
    },
    over: (exchange) => void open.delete(exchange),
    has: (request) => known.size > 0 && known.has(keyOf(request)),
    of(request) {
      if (known.size === 0) return undefined
      const found = known.get(keyOf(request))
      return found && !found.isShared ? found.conversation : undefined
    },
  }
}

/** As a client reads it: relative to the address of its stream. */
function placeOf(endpoint: string, { path, origin }: Addressed): Addressed | undefined {
  if (endpoint.length > longestEndpoint) return undefined
  try {
    const { pathname, search, origin: to } = new URL(endpoint, new URL(path, origin ?? 'http://upstream'))
    return { path: pathname + search, ...(origin !== undefined && { origin: to }) }
  } catch {
    return undefined
  }
}
