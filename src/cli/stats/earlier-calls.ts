/** The last calls of a session by content: at least `kept`, at most twice as many. */
export interface EarlierCalls<C> {
  get(key: CallKey): C | undefined
  set(key: CallKey, call: C): void
}

/** Two 32-bit numbers; valid until the next key is made. */
export interface CallKey {
  readonly a: number
  readonly b: number
}

/** A power of 2; half of the places stay empty. */
const places = 32_768
/** Calls per generation. */
const kept = 10_000

/** Calls by hashes of their keys, with open addressing. */
class Generation<C> {
  readonly #hashes = new Int32Array(2 * places)
  readonly #calls: (C | undefined)[] = Array.from({ length: places })
  size = 0

  #find({ a, b }: CallKey): number {
    let place = (a ^ (b << 5)) & (places - 1)
    while (this.#calls[place] !== undefined) {
      if (this.#hashes[2 * place] === a && this.#hashes[2 * place + 1] === b) return place
      place = (place + 1) & (places - 1)
    }
    return place
  }

  get(key: CallKey): C | undefined {
    return this.size === 0 ? undefined : this.#calls[this.#find(key)]
  }

  set(key: CallKey, call: C): void {
    const place = this.#find(key)
    if (this.#calls[place] === undefined) {
      this.size += 1
      this.#hashes[2 * place] = key.a
      this.#hashes[2 * place + 1] = key.b
    }
    this.#calls[place] = call
  }

  clear(): void {
    this.#calls.fill(undefined)
    this.size = 0
  }
}

export function createEarlierCalls<C>(): EarlierCalls<C> {
  let young: Generation<C> | undefined
  let old: Generation<C> | undefined
  return {
    get: (key) => young?.get(key) ?? old?.get(key),
    set(key, call) {
      // Most sessions call little, and a generation costs a millisecond.
      young ??= new Generation<C>()
      young.set(key, call)
      if (young.size < kept) return
      ;[young, old] = [old, young]
      young?.clear()
    },
  }
}

/** Random for each run, so that peers cannot craft colliding keys. */
const seeds = crypto.getRandomValues(new Int32Array(2))
const key = { a: 0, b: 0 }

/** Begins a key that is equal only for equal conversation, tool and arguments. */
export function beginKey(): void {
  key.a = seeds[0]!
  key.b = seeds[1]!
}

/** Adds the next part of the key; a negative start means empty text. */
export function addToKey(bytes: Uint8Array, start: number, end: number): void {
  let { a, b } = key
  for (let i = start < 0 ? end : start; i < end; i += 1) {
    const byte = bytes[i]!
    a = Math.imul(a ^ byte, 0x01000193)
    b = Math.imul(((b << 5) | (b >>> 27)) ^ byte, 0x9e3779b1)
  }
  // Marks the end of the part with a value that is no byte.
  key.a = Math.imul(a ^ 0x100, 0x01000193)
  key.b = Math.imul(((b << 5) | (b >>> 27)) ^ 0x100, 0x9e3779b1)
}

export function endKey(): CallKey {
  key.a = mixed(key.a)
  key.b = mixed(key.b)
  return key
}

function mixed(hash: number): number {
  const h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return Math.imul(h ^ (h >>> 13), 0xc2b2ae35) | 0
}
