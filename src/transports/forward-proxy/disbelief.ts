/** Connections to one place that may end silently after the handshake before the place counts as pinned. */
const mostSilent = 2
/** Places that are remembered. */
const mostPlaces = 10_000

/** Places where clients reject our certificate. */
export interface Disbelief {
  /** @param certain the client sent a TLS alert; otherwise it only disconnected */
  seen(place: string, certain: boolean): void
  /** A request arrived. From now on, a connection without a request is not a sign of a rejected certificate. */
  believed(place: string): void
  isPinned(place: string): boolean
}

export function createDisbelief(): Disbelief {
  const pinned = new Set<string>()
  /** Connections that ended silently, per place; negative infinity once a request was seen there. */
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
