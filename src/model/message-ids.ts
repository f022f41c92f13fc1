/**
 * Message ids: version 4 UUIDs derived from a random key and the message's position among those of its recorder. A
 * message is remembered as a small number, without text.
 */
export class MessageIds {
  readonly key: Uint32Array
  readonly #text = new Uint8Array(idLength)
  readonly #words = new Int32Array(4)

  /** @param key four random 32-bit words */
  constructor(key: Uint32Array) {
    this.key = key
  }

  /** @param place below 2^32 */
  textOf(place: number): string {
    this.write(place, this.#text, 0)
    return String.fromCharCode(...this.#text)
  }

  /** Writes the text as ASCII. Returns the index after it. */
  write(place: number, target: Uint8Array, start: number): number {
    const { key } = this
    // Each word is a permutation of the positions, so no two messages of a recorder share an id.
    const first = mixed(place ^ key[0]!)
    const second = mixed(place + key[1]!)
    const third = mixed(first ^ key[2]!)
    const fourth = mixed(second ^ key[3]!)
    const words = this.#words
    words[0] = first
    words[1] = (second & 0xffff0fff) | 0x4000
    words[2] = (third & 0x3fffffff) | 0x80000000
    words[3] = fourth
    let at = start
    // A loop, not a call per word: the engine would copy each call into this function, and compile that.
    for (let n = 0; n < 16; n += 1) {
      const byte = (words[n >> 2]! >>> (24 - 8 * (n & 3))) & 255
      if (n >= 4 && n <= 10 && (n & 1) === 0) target[at++] = DASH
      target[at] = digits[byte >>> 4]!
      target[at + 1] = digits[byte & 15]!
      at += 2
    }
    return at
  }
}

/** Characters of a UUID. */
export const idLength = 36
const DASH = 0x2d
const digits = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** A permutation of 32-bit words: the last step of MurmurHash3. */
function mixed(word: number): number {
  let it = word ^ (word >>> 16)
  it = Math.imul(it, 0x85ebca6b)
  it ^= it >>> 13
  it = Math.imul(it, 0xc2b2ae35)
  return (it ^ (it >>> 16)) >>> 0
}
