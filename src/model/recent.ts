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

class Half<V, K> {
  readonly map = new Map<K, V>()
  chars = 0
}

export function createRecent<V, K extends string | number = string>(limits: RecentLimits<V>): Recent<V, K> {
  return new TwoHalves(limits)
}

/**
 * Two generations: when the young one is full it becomes the old one, and the former old one is dropped. Each
 * operation is O(1); deleting the first key of one large map would scan the holes left by deletions. Deleted
 * entries free their room, so an entry outlives any number of short-lived ones.
 */
class TwoHalves<V, K extends string | number> implements Recent<V, K> {
  readonly #entries: number
  readonly #chars: number
  readonly #sizeOf: ((value: V) => number) | undefined
  #young = new Half<V, K>()
  #old = new Half<V, K>()

  constructor({ entries, chars = Infinity, sizeOf }: RecentLimits<V>) {
    this.#entries = entries
    this.#chars = chars
    this.#sizeOf = sizeOf
  }

  *entries(): Iterable<[K, V]> {
    for (const entry of this.#old.map) if (!this.#young.map.has(entry[0])) yield entry
    yield* this.#young.map
  }

  get(key: K): V | undefined {
    return this.#young.map.get(key) ?? (this.#old.map.size > 0 ? this.#old.map.get(key) : undefined)
  }

  set(key: K, value: V): void {
    // A key in both generations is found in the young one first, and dropped with the old one.
    this.#remove(this.#young, key)
    const young = this.#young
    young.map.set(key, value)
    if (this.#chars !== Infinity) young.chars += this.#charsOf(key, value)
    if (young.map.size < this.#entries && young.chars < this.#chars) return
    this.#old = young
    this.#young = new Half()
  }

  delete(key: K): void {
    this.#remove(this.#young, key)
    this.#remove(this.#old, key)
  }

  #remove(half: Half<V, K>, key: K): void {
    if (half.map.size === 0) return
    if (this.#chars === Infinity) return void half.map.delete(key)
    const value = half.map.get(key)
    if (value === undefined) return
    half.chars -= this.#charsOf(key, value)
    half.map.delete(key)
  }

  #charsOf(key: K, value: V): number {
    return lengthOf(key) + (this.#sizeOf?.(value) ?? 0)
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
