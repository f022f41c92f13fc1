/** A map that drops old entries, so that memory stays bounded for any session length. */
export interface Recent<V, K extends string | number = string> {
  get(key: K): V | undefined
  set(key: K, value: V): void
  delete(key: K): void
  /** Older ones first. */
  entries(): Iterable<[K, V]>
}

/** Limits after which a map drops its oldest half. Each limit applies independently. */
export interface RecentLimits<V> {
  /** Entries kept at least; twice as many at most. */
  readonly entries: number
  /** Characters of keys, and of values as `sizeOf` counts them, kept in each half. @default no limit */
  readonly chars?: number
  /** Characters that a value holds. @default 0 */
  readonly sizeOf?: (value: V) => number
}

interface Half<V, K> {
  readonly map: Map<K, V>
  chars: number
}

/**
 * Two generations: when the young one is full it becomes the old one, and the former old one is dropped. Each
 * operation is O(1); deleting the first key of one large map would scan the holes left by deletions. Deleted
 * entries free their room, so an entry outlives any number of short-lived ones.
 */
export function createRecent<V, K extends string | number = string>(limits: RecentLimits<V>): Recent<V, K> {
  const { entries, chars = Infinity, sizeOf = () => 0 } = limits
  let young: Half<V, K> = { map: new Map(), chars: 0 }
  let old: Half<V, K> = { map: new Map(), chars: 0 }

  const isMeasured = chars !== Infinity

  function remove(half: Half<V, K>, key: K): void {
    if (half.map.size === 0) return
    if (!isMeasured) return void half.map.delete(key)
    const value = half.map.get(key)
    if (value === undefined) return
    half.chars -= lengthOf(key) + sizeOf(value)
    half.map.delete(key)
  }

  return {
    *entries() {
      for (const entry of old.map) if (!young.map.has(entry[0])) yield entry
      yield* young.map
    },
    get: (key) => young.map.get(key) ?? (old.map.size > 0 ? old.map.get(key) : undefined),
    set(key, value) {
      // A key in both generations is found in the young one first, and dropped with the old one.
      remove(young, key)
      young.map.set(key, value)
      young.chars += lengthOf(key) + sizeOf(value)
      if (young.map.size >= entries || young.chars >= chars) {
        old = young
        young = { map: new Map(), chars: 0 }
      }
    },
    delete(key) {
      remove(young, key)
      remove(old, key)
    },
  }
}

const lengthOf = (key: string | number): number => (typeof key === 'string' ? key.length : 0)

/**
 * A copy of `text` without a reference to its source. A slice of a longer string keeps that string in memory,
 * which matters where a few characters of every message are remembered.
 */
export function detach(text: string): string {
  return text.length < 13 ? text : (JSON.parse(JSON.stringify(text)) as string)
}
