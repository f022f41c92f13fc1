/** A map that forgets old entries, so that memory stays bounded for any session length. */
export interface Recent<V> {
  get(key: string): V | undefined
  set(key: string, value: V): void
  delete(key: string): void
}

/**
 * Two generations: when the young one is full it becomes the old one, and the former old one is forgotten.
 * Each operation is O(1); dropping the first key of one big map would walk over the holes left by deletions.
 *
 * @param limit entries kept at least; twice as many at most
 */
export function createRecent<V>(limit: number): Recent<V> {
  let young = new Map<string, V>()
  let old = new Map<string, V>()
  return {
    get: (key) => young.get(key) ?? old.get(key),
    set(key, value) {
      old.delete(key)
      young.set(key, value)
      if (young.size >= limit) {
        old = young
        young = new Map()
      }
    },
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
  }
}

/**
 * A copy of `text` that stands alone. A slice of a longer string keeps that whole string in memory, which
 * matters where a few characters of every message are remembered.
 */
export function detach(text: string): string {
  return text.length < 13 ? text : (JSON.parse(JSON.stringify(text)) as string)
}
