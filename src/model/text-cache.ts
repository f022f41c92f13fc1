import { detach } from './recent.js'

/** Bounds of a cache: the number of texts, and the length of the longest one that is kept. */
export interface TextCacheLimits {
  readonly texts: number
  readonly length: number
}

/** Caches the values made from short texts that recur. The values must not be changed. */
export class TextCache<T> {
  readonly #known = new Map<string, T>()
  readonly #limits: TextCacheLimits
  readonly #make: (text: string) => T

  constructor(limits: TextCacheLimits, make: (text: string) => T) {
    this.#limits = limits
    this.#make = make
  }

  get(text: string): T {
    if (text.length > this.#limits.length) return this.#make(text)
    const known = this.#known.get(text)
    if (known !== undefined || this.#known.has(text)) return known as T
    const made = this.#make(text)
    if (this.#known.size >= this.#limits.texts) this.#known.clear()
    // A slice of a message would keep the whole message in memory.
    this.#known.set(detach(text), made)
    return made
  }
}
