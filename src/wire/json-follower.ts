/** Follows one JSON value through bytes that arrive in pieces, until its end or its first error. */
export interface JsonFollower {
  /** A value begins with the next byte. */
  begin(): void
  /**
   * Continues from `at` to `length`, which a line feed must follow. Checks brackets, commas, colons and strings
   * strictly; numbers, words and escapes are not checked.
   */
  follow(bytes: Uint8Array, at: number, length: number): Followed
  /** Line feeds in the value so far. */
  lines(): number
}

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

export function createJsonFollower(): JsonFollower {
  /** The closing brackets of open containers, innermost last. */
  let inside = new Uint8Array(64)
  let depth = 0
  let due = VALUE
  let escaped = false
  let isName = false
  let lines = 0

  function follow(bytes: Uint8Array, from: number, length: number): Followed {
    let now = due
    for (let at = from; at < length; at += 1) {
      const code = bytes[at]!
      if (now === STRING) {
        if (escaped) {
          escaped = false
          if (code < 0x20) return { kind: 'fault', at, reason: 'control character in a string' }
          continue
        }
        // Most of a document is the contents of strings.
        while (stringStops[bytes[at]!] === 0) at += 1
        if (at >= length) break
        const next = bytes[at]!
        if (next < 0x20) return { kind: 'fault', at, reason: 'control character in a string' }
        if (next === BACKSLASH) escaped = true
        if (next !== QUOTE) continue
        now = isName ? COLON_DUE : NEXT
        if (depth === 0) return { kind: 'end', at: at + 1 }
        continue
      }
      if (now === WORD) {
        if (wordEnds[code] === 0) continue
        if (depth === 0) return { kind: 'end', at }
        now = NEXT
      }
      if (code <= 0x20) {
        if (code === 0x0a) lines += 1
        if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
          while (bytes[at + 1] === 0x20) at += 1
          continue
        }
      }
      if (depth > 0 && code === inside[depth - 1] && (now === NEXT || now === FIRST || now === FIRST_NAME)) {
        depth -= 1
        now = NEXT
        if (depth === 0) return { kind: 'end', at: at + 1 }
        continue
      }
      const after = token(code, now)
      if (after < 0) return { kind: 'fault', at, reason: reasonOf(now) }
      now = after
    }
    due = now
    return more
  }

  /** The state after the character; -1 when it is invalid here. */
  function token(code: number, now: number): number {
    if (now === NEXT) return code !== COMMA ? -1 : inside[depth - 1] === CLOSE_OBJECT ? NAME : VALUE
    if (now === COLON_DUE) return code === COLON ? VALUE : -1
    if (now === NAME || now === FIRST_NAME) {
      if (code !== QUOTE) return -1
      isName = true
      return STRING
    }
    if (code === QUOTE) {
      isName = false
      return STRING
    }
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      open(code + 2)
      return code === OPEN_OBJECT ? FIRST_NAME : FIRST
    }
    return wordEnds[code] === 0 ? WORD : -1
  }

  function open(close: number): void {
    if (depth === inside.length) {
      const larger = new Uint8Array(2 * depth)
      larger.set(inside)
      inside = larger
    }
    inside[depth++] = close
  }

  function reasonOf(now: number): string {
    if (now === NEXT) return `expected ',' or '${String.fromCharCode(inside[depth - 1]!)}'`
    if (now === COLON_DUE) return "expected ':'"
    return now === NAME || now === FIRST_NAME ? 'expected a member name' : 'expected a value'
  }

  return {
    begin() {
      depth = 0
      due = VALUE
      escaped = false
      isName = false
      lines = 0
    },
    follow,
    lines: () => lines,
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
