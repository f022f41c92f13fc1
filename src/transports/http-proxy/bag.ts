/** What is here now; things come and go all the time. */
export interface Bag<T> {
  /** @returns takes it out again; only the first call does anything */
  add(thing: T): () => void
  /** Calls `visit` with each; things may leave meanwhile. */
  each(visit: (thing: T) => void): void
  readonly size: number
}

/**
 * A `Set` that things are added to and deleted from keeps what was in it: its outgrown tables name one another, and
 * once one of them is old, only a collection of the whole heap frees what the later ones held.
 */
export function createBag<T>(): Bag<T> {
  const entries: { readonly thing: T; at: number }[] = []
  return {
    get size() {
      return entries.length
    },
    add(thing) {
      const entry = { thing, at: entries.length }
      entries.push(entry)
      return () => {
        if (entry.at < 0) return
        const last = entries.pop()!
        if (last !== entry) {
          entries[entry.at] = last
          last.at = entry.at
        }
        entry.at = -1
      }
    },
    each(visit) {
      for (const { thing } of entries.slice()) visit(thing)
    },
  }
}
