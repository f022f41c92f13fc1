/** `end`: the index after the value; `more`: bytes are missing; `fault`: the byte at `at` is invalid. */
export type Followed =
  | { readonly kind: 'end'; readonly at: number }
  | { readonly kind: 'more' }
  | { readonly kind: 'fault'; readonly at: number; readonly reason: string }

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d

/** The expected token, or the string or word being read. Numbers: this is the hottest loop of all readers. */
const VALUE = 0
const FIRST = 1
const NAME = 2
const FIRST_NAME = 3
const COLON_DUE = 4
const NEXT = 5
const STRING = 6
const WORD = 7

const more: Followed = { kind: 'more' }

/** Follows one JSON value through bytes that arrive in pieces, until its end or its first error. */
export class JsonFollower {
  /** The closing brackets of open containers, innermost last. */
  #inside = new Uint8Array(64)
  #depth = 0
  #due: number = VALUE
  #escaped = false
  #isName = false
  #lines = 0

  /**
   * Continues from `at` to `length`, which a line feed must follow. Checks brackets, commas, colons and strings
   * strictly; numbers, words and escapes are not checked.
   */
  follow(bytes: Uint8Array, from: number, length: number): Followed {
    let now = this.#due
    for (let at = from; at < length; at += 1) {
      const code = bytes[at]!
      if (now === STRING) {
        if (this.#escaped) {
          this.#escaped = false
          if (code < 0x20) return { kind: 'fault', at, reason: 'control character in a string' }
          continue
        }
        // Most of a document is the contents of strings.
        while (stringStops[bytes[at]!] === 0) at += 1
        if (at >= length) break
        const next = bytes[at]!
        if (next < 0x20) return { kind: 'fault', at, reason: 'control character in a string' }
        if (next === BACKSLASH) this.#escaped = true
        if (next !== QUOTE) continue
        now = this.#isName ? COLON_DUE : NEXT
        if (this.#depth === 0) return { kind: 'end', at: at + 1 }
        continue
      }
      if (now === WORD) {
        if (wordEnds[code] === 0) continue
        if (this.#depth === 0) return { kind: 'end', at }
        now = NEXT
      }
      if (code <= 0x20) {
        if (code === 0x0a) this.#lines += 1
        if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
          while (bytes[at + 1] === 0x20) at += 1
          continue
        }
      }
      if (
        this.#depth > 0 &&
        code === this.#inside[this.#depth - 1] &&
        (now === NEXT || now === FIRST || now === FIRST_NAME)
      ) {
        this.#depth -= 1
        now = NEXT
        if (this.#depth === 0) return { kind: 'end', at: at + 1 }
        continue
      }
      const after = this.#token(code, now)
      if (after < 0) return { kind: 'fault', at, reason: this.#reasonOf(now) }
      now = after
    }
    this.#due = now
    return more
  }

  /** A value begins with the next byte. */
  begin(): void {
    this.#depth = 0
    this.#due = VALUE
    this.#escaped = false
    this.#isName = false
    this.#lines = 0
  }

  /** Line feeds in the value so far. */
  lines(): number {
    return this.#lines
  }

  /** The state after the character; -1 when it is invalid here. */
  #token(code: number, now: number): number {
    if (now === NEXT)
      return code !== COMMA ? -1 : this.#inside[this.#depth - 1] === CLOSE_OBJECT ? NAME : VALUE
    if (now === COLON_DUE) return code === COLON ? VALUE : -1
    if (now === NAME || now === FIRST_NAME) {
      if (code !== QUOTE) return -1
      this.#isName = true
      return STRING
    }
    if (code === QUOTE) {
      this.#isName = false
      return STRING
    }
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      this.#open(code + 2)
      return code === OPEN_OBJECT ? FIRST_NAME : FIRST
    }
    return wordEnds[code] === 0 ? WORD : -1
  }

  #open(close: number): void {
    if (this.#depth === this.#inside.length) {
      const larger = new Uint8Array(2 * this.#depth)
      larger.set(this.#inside)
      this.#inside = larger
    }
    this.#inside[this.#depth++] = close
  }

  #reasonOf(now: number): string {
    if (now === NEXT) return `expected ',' or '${String.fromCharCode(this.#inside[this.#depth - 1]!)}'`
    if (now === COLON_DUE) return "expected ':'"
    return now === NAME || now === FIRST_NAME ? 'expected a member name' : 'expected a value'
  }
}

/** 1 for bytes that end a string or must be escaped in it. The line feed after the bytes stops every search. */
const stringStops = Uint8Array.from({ length: 256 }, (_, code) =>
  code < 0x20 || code === QUOTE || code === BACKSLASH ? 1 : 0,
)

/** 1 for bytes that cannot be part of a number or word. */
const wordEnds = Uint8Array.from({ length: 256 }, (_, code) => (endsWord(code) ? 1 : 0))

function endsWord(code: number): boolean {
  return (
    code <= 0x20 ||
    code === COMMA ||
    code === COLON ||
    code === QUOTE ||
    code === OPEN_ARRAY ||
    code === OPEN_OBJECT ||
    code === CLOSE_ARRAY ||
    code === CLOSE_OBJECT
  )
}
