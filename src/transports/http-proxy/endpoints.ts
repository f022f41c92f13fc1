/** Endpoints that are remembered. */
const remembered = 10_000

/** Longer endpoints are ignored: no request could go there, because all headers together are limited to 256 KB. */
const longestEndpoint = 8_192

/** The target of a request or an event stream. */
export interface Addressed {
  readonly path: string
  /** Origin of the upstream, where a proxy has many. */
  readonly origin?: string
}

/**
 * POST endpoints of HTTP+SSE streams (2024-11-05). A request to such an endpoint belongs to the conversation of the
 * stream that named it, wherever the server puts its session id.
 */
export interface Endpoints {
  /**
   * A stream named its endpoint.
   *
   * @param endpoint as received: a path, possibly relative, or a URL
   */
  named(endpoint: string, stream: Addressed & { readonly exchange: number }, conversation: string): void
  /** The stream is over. */
  over(exchange: number): void
  /** Whether any stream named this endpoint. */
  has(request: Addressed): boolean
  /** The conversation of a request. Undefined for an unknown endpoint, or one that two open streams named. */
  of(request: Addressed): string | undefined
}

interface Named {
  readonly exchange: number
  readonly conversation: string
  isShared: boolean
}

export function createEndpoints(): Endpoints {
  const known = new Map<string, Named>()
  /** Open streams and their endpoints. */
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

/** Resolved as a client does: relative to the address of its stream. */
function placeOf(endpoint: string, { path, origin }: Addressed): Addressed | undefined {
  if (endpoint.length > longestEndpoint) return undefined
  try {
    const { pathname, search, origin: to } = new URL(endpoint, new URL(path, origin ?? 'http://upstream'))
    return { path: pathname + search, ...(origin !== undefined && { origin: to }) }
  } catch {
    return undefined
  }
}
