/** Connections to one place that end after the handshake without a request, before that is taken for disbelief. */
const mostSilent = 2
/** Places that are remembered. */
const mostPlaces = 10_000

/** Where clients do not take our certificate for the server's. */
export interface Disbelief {
  /** @param certain the client said so; else it left without a word */
  seen(place: string, certain: boolean): void
  /** A request came: whoever leaves without one from now on had no use for its connection. */
  believed(place: string): void
  isPinned(place: string): boolean
}

export function createDisbelief(): Disbelief {
  const pinned = new Set<string>()
  /** How often a client left; infinitely far from too often where one was seen to stay. */
  const silent = new Map<string, number>()
  return {
    seen(place, certain) {
      const count = (silent.get(place) ?? 0) + 1
      silent.set(place, count)
      if (certain || count >= mostSilent) pinned.add(place)
      for (const known of [pinned, silent])
        if (known.size > mostPlaces) known.delete(known.keys().next().value!)
    },
    believed(place) {
      silent.set(place, Number.NEGATIVE_INFINITY)
    },
    isPinned: (place) => pinned.has(place),
  }
}
