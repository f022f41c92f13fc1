import { TextCache } from '../model/index.js'

/** A power of two. */
const slots = 64
const limits = { texts: 128, length: 4096 }
/** Bytes that choose a slot. */
const samples = 8

interface Known<T> {
  readonly bytes: Uint8Array
  readonly made: T
}

/** Caches the values made from texts that recur. For one that recurs often, no string is made. */
export class KnownTexts<T> {
  readonly #known: (Known<T> | undefined)[] = Array.from({ length: slots }, () => undefined)
  readonly #texts: TextCache<T>

  /** @param make the values must not be changed */
  constructor(make: (text: string) => T) {
    this.#texts = new TextCache(limits, make)
  }

  /** The value of UTF-8 text. */
  of(bytes: Buffer, start: number, end: number): T {
    const slot = slotOf(bytes, start, end)
    const known = this.#known[slot]
    if (known && isSame(known.bytes, bytes, start, end)) return known.made
    const made = this.#texts.get(bytes.toString('utf8', start, end))
    if (end - start <= limits.length)
      this.#known[slot] = { bytes: Uint8Array.from(bytes.subarray(start, end)), made }
    return made
  }
}

function slotOf(bytes: Uint8Array, start: number, end: number): number {
  const step = Math.max(1, Math.floor((end - start) / samples))
  let hash = end - start
  for (let at = start; at < end; at += step) hash = (Math.imul(hash, 31) + bytes[at]!) | 0
  return hash & (slots - 1)
}

function isSame(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (known.length !== end - start) return false
  for (let i = 0; i < known.length; i += 1) if (known[i] !== bytes[start + i]) return false
  return true
}
