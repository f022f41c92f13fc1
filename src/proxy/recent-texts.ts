const mostTexts = 128
const longestText = 4096

/** Caches the values made from recent short texts. The values must not be changed. */
export class RecentTexts<T> {
  readonly #known = new Map<string, T>()
  readonly #make: (text: string) => T

  constructor(make: (text: string) => T) {
    this.#make = make
  }

  get(text: string): T {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const made = this.#make(text)
    if (text.length > longestText) return made
    if (this.#known.size >= mostTexts) this.#known.clear()
    this.#known.set(text, made)
    return made
  }
}

/** The same for objects, which are compared by identity and must not be changed either. */
export function forRecent<Key extends object, T>(make: (key: Key) => T): (key: Key) => T {
  const known = new Map<Key, T>()
  return (key) => {
    let made = known.get(key)
    if (made !== undefined) return made
    made = make(key)
    if (known.size >= mostTexts) known.clear()
    known.set(key, made)
    return made
  }
}
