/** Live objects in no particular order. Adding and removing are O(1); removed objects are not kept alive. */
export interface Bag<T> {
  /** @returns a function that removes the object; only its first call has an effect */
  add(thing: T): () => void
  /** Calls `visit` for each object. Objects may be removed meanwhile. */
  each(visit: (thing: T) => void): void
  readonly size: number
}

/**
 * A `Set` with many additions and deletions keeps its former contents alive: its outgrown tables refer to each
 * other, and once one of them is in the old generation, only a full collection frees the objects of the later ones.
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
