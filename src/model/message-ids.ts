/**
 * Message ids: version 4 UUIDs derived from a random key and the message's position among those of its recorder. A
 * message is remembered as a small number, without text.
 */
export class MessageIds {
  readonly #key: Uint32Array
  readonly #text = new Uint8Array(idLength)

  /** @param key four random 32-bit words */
  constructor(key: Uint32Array) {
    this.#key = key
  }

  /** @param place below 2^32 */
  textOf(place: number): string {
    this.write(place, this.#text, 0)
    return String.fromCharCode(...this.#text)
  }

  /** Writes the text as ASCII. Returns the index after it. */
  write(place: number, target: Uint8Array, start: number): number {
    const key = this.#key
    // Each word is a permutation of the positions, so no two messages of a recorder share an id.
    const first = mixed(place ^ key[0]!)
    const second = mixed(place + key[1]!)
    const third = mixed(first ^ key[2]!)
    const fourth = mixed(second ^ key[3]!)
    let at = writeHex(first >>> 16, target, start)
    at = writeHex(first & 0xffff, target, at)
    target[at] = DASH
    at = writeHex(second >>> 16, target, at + 1)
    target[at] = DASH
    at = writeHex((second & 0x0fff) | 0x4000, target, at + 1)
    target[at] = DASH
    at = writeHex(((third >>> 16) & 0x3fff) | 0x8000, target, at + 1)
    target[at] = DASH
    at = writeHex(third & 0xffff, target, at + 1)
    at = writeHex(fourth >>> 16, target, at)
    return writeHex(fourth & 0xffff, target, at)
  }
}

/** Characters of a UUID. */
export const idLength = 36
const DASH = 0x2d
const digits = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** Four digits. Returns the index after them. */
function writeHex(word: number, target: Uint8Array, at: number): number {
  target[at] = digits[word >>> 12]!
  target[at + 1] = digits[(word >>> 8) & 15]!
  target[at + 2] = digits[(word >>> 4) & 15]!
  target[at + 3] = digits[word & 15]!
  return at + 4
}

/** A permutation of 32-bit words: the last step of MurmurHash3. */
function mixed(word: number): number {
  let it = word ^ (word >>> 16)
  it = Math.imul(it, 0x85ebca6b)
  it ^= it >>> 13
  it = Math.imul(it, 0xc2b2ae35)
  return (it ^ (it >>> 16)) >>> 0
}
