/** Follows one JSON value through bytes that come in pieces, and stops where it ends or breaks. */
export interface JsonFollower {
  /** A value begins with the next byte that is given. */
  begin(): void
  /**
   * Reads on from `at` to `length`. Strict about brackets, commas, colons and strings; numbers, words and escapes
   * are taken as they come.
   */
  follow(bytes: Uint8Array, at: number, length: number): Followed
  /** Line feeds that the value had so far. */
  lines(): number
}

/** `end` is after the value; `more` bytes are needed; or what stands at `at` belongs to no value. */
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

/** What comes next: inside a string or word, or between two of them. */
type Due = 'value' | 'first' | 'name' | 'first-name' | 'colon' | 'next' | 'string' | 'word'

const more: Followed = { kind: 'more' }

export function createJsonFollower(): JsonFollower {
  /** The brackets that close what is open, innermost last. */
  const inside: number[] = []
  let due: Due = 'value'
  let escaped = false
  let isName = false
  let lines = 0

  function follow(bytes: Uint8Array, from: number, length: number): Followed {
    for (let at = from; at < length; at += 1) {
      const code = bytes[at]!
      if (due === 'string') {
        if (escaped) {
          escaped = false
          if (code < 0x20) return { kind: 'fault', at, reason: 'control character in a string' }
          continue
        }
        // Most of a document is what stands in strings.
        let next = code
        while (next !== QUOTE && next !== BACKSLASH && next >= 0x20 && at + 1 < length)
          next = bytes[(at += 1)]!
        if (next < 0x20) return { kind: 'fault', at, reason: 'control character in a string' }
        if (next === BACKSLASH) escaped = true
        if (next !== QUOTE) continue
        due = isName ? 'colon' : 'next'
        if (inside.length === 0) return { kind: 'end', at: at + 1 }
        continue
      }
      if (due === 'word') {
        if (!endsWord(code)) continue
        if (inside.length === 0) return { kind: 'end', at }
        due = 'next'
      }
      if (code === 0x0a) lines += 1
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) continue
      const reason = token(code)
      if (reason !== undefined) return { kind: 'fault', at, reason }
      if (inside.length === 0 && due === 'next') return { kind: 'end', at: at + 1 }
    }
    return more
  }

  /** Why the character cannot stand here, when it cannot. */
  function token(code: number): string | undefined {
    const close = inside.at(-1)
    if (code === close && (due === 'next' || due === 'first' || due === 'first-name')) {
      inside.pop()
      due = 'next'
      return undefined
    }
    if (due === 'next') {
      if (code !== COMMA) return `expected ',' or '${String.fromCharCode(close!)}'`
      due = close === CLOSE_OBJECT ? 'name' : 'value'
    } else if (due === 'colon') {
      if (code !== COLON) return "expected ':'"
      due = 'value'
    } else if (due === 'name' || due === 'first-name') {
      if (code !== QUOTE) return 'expected a member name'
      due = 'string'
      isName = true
    } else return value(code)
    return undefined
  }

  function value(code: number): string | undefined {
    if (code === QUOTE) {
      due = 'string'
      isName = false
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      inside.push(code === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY)
      due = code === OPEN_OBJECT ? 'first-name' : 'first'
    } else if (endsWord(code)) return 'expected a value'
    else due = 'word'
    return undefined
  }

  return {
    begin() {
      inside.length = 0
      due = 'value'
      escaped = false
      isName = false
      lines = 0
    },
    follow,
    lines: () => lines,
  }
}

/** What belongs to no number or word. */
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
