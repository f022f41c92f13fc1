import { bytesOf, matches, skipNumber, skipText } from '../../wire/index.js'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** The engine copies longer runs of bytes faster. */
const longRun = 64
const deepest = 200
const words = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), bytesOf(word)]))

/** Puts a payload on one line and validates it. */
export class PayloadScan {
  #out = new Uint8Array(1 << 16)
  #size = 0
  #lines = 0
  #spaces = 0
  /** Closing brackets of the open containers. */
  readonly #closing = new Uint8Array(deepest)

  /**
   * Writes the payload at `start`, preceded by the bytes from `from`, to `out`. A line feed must follow the bytes.
   *
   * @returns the index after the payload, or -1 when it is no object, incomplete, or deeply nested
   */
  pass(bytes: Uint8Array, from: number, start: number, end: number): number {
    if (this.#out.length < end - from + 1) this.#out = new Uint8Array(2 * (end - from) + 1)
    this.#size = 0
    this.#lines = 0
    this.#spaces = 0
    this.#copy(bytes, from, start)
    if (bytes[start] !== OPEN_OBJECT) return -1
    const after = this.#walk(bytes, start)
    if (after < 0 || after > end) return -1
    // Text on one line is unchanged.
    if (this.#spaces > 0 && this.#lines === 0) {
      this.#size = start - from
      this.#copy(bytes, start, after)
    }
    return after
  }

  /** Valid until the next call. There is room for one more byte. */
  get out(): Uint8Array {
    return this.#out
  }

  get size(): number {
    return this.#size
  }

  /** Line feeds between its tokens. */
  get lines(): number {
    return this.#lines
  }

  #copy(bytes: Uint8Array, from: number, to: number): void {
    if (to - from < longRun) for (let at = from; at < to; at += 1) this.#out[this.#size++] = bytes[at]!
    else {
      this.#out.set(bytes.subarray(from, to), this.#size)
      this.#size += to - from
    }
  }

  #skipSpace(bytes: Uint8Array, start: number): number {
    let at = start
    for (let byte = bytes[at]!; byte <= 0x20; byte = bytes[at]!) {
      if (byte === 0x0a) this.#lines += 1
      else if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return at
      this.#spaces += 1
      at += 1
    }
    return at
  }

  #walk(bytes: Uint8Array, start: number): number {
    let at = start
    let depth = 0
    let isName = false
    for (;;) {
      if (isName) {
        at = this.#name(bytes, at)
        if (at < 0) return -1
      }
      const code = bytes[at]!
      if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        this.#out[this.#size++] = code
        at = this.#skipSpace(bytes, at + 1)
        if (bytes[at] === code + 2) {
          this.#out[this.#size++] = code + 2
          at += 1
        } else {
          if (depth === deepest) return -1
          this.#closing[depth++] = code + 2
          isName = code === OPEN_OBJECT
          continue
        }
      } else {
        at = this.#plain(bytes, at, code)
        if (at < 0) return -1
      }
      for (;;) {
        if (depth === 0) return at
        at = this.#skipSpace(bytes, at)
        const next = bytes[at]!
        if (next !== COMMA && next !== this.#closing[depth - 1]) return -1
        this.#out[this.#size++] = next
        at += 1
        if (next === COMMA) {
          at = this.#skipSpace(bytes, at)
          isName = this.#closing[depth - 1] === CLOSE_OBJECT
          break
        }
        depth -= 1
      }
    }
  }

  /** A member's name and its colon. */
  #name(bytes: Uint8Array, start: number): number {
    if (bytes[start] !== QUOTE) return -1
    const end = skipText(bytes, start + 1)
    if (end < 0) return -1
    this.#copy(bytes, start, end)
    const colon = this.#skipSpace(bytes, end)
    if (bytes[colon] !== COLON) return -1
    this.#out[this.#size++] = COLON
    return this.#skipSpace(bytes, colon + 1)
  }

  /** A value that contains no other values. */
  #plain(bytes: Uint8Array, start: number, code: number): number {
    const end = plainEnd(bytes, start, code)
    if (end >= 0) this.#copy(bytes, start, end)
    return end
  }
}

/** The index after a string, word or number; -1 if it is none. */
function plainEnd(bytes: Uint8Array, start: number, code: number): number {
  if (code === QUOTE) return skipText(bytes, start + 1)
  const word = words.get(code)
  if (!word) return skipNumber(bytes, start)
  return matches(bytes, start, word) ? start + word.length : -1
}
