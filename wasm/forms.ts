/** Brings texts into the form of an output, with the results of `double-quotes.ts` and `indent-bytes.ts` in `src/formats`. */
import { BACKSLASH, byteAt, COLON, COMMA, LF, QUOTE, SPACE } from './json'

/** Number of the first lane that is set, otherwise 16. */
function firstOf(lanes: v128): i32 {
  return ctz(i8x16.bitmask(lanes) | 0x1_0000)
}

/** Copies bytes and doubles their quotes. The caller provides room for twice the bytes. Returns the end. */
export function doubleQuotes(start: i32, end: i32, to: i32): i32 {
  let from = start
  let at = to
  while (true) {
    const sixteen = v128.load(from)
    v128.store(at, sixteen)
    const length = firstOf(i8x16.eq(sixteen, i8x16.splat(0x22)))
    if (from + length >= end) return at + end - from
    // A second quote, unless there is none among the sixteen: it is then overwritten.
    store<u8>(at + length, QUOTE, 1)
    const quotes = 1 - (length >> 4)
    from += length + quotes
    at += length + 2 * quotes
  }
}

/** Copies a string. Returns the position after it; -1 if there is no room before `limit`. */
function copyString(start: i32, end: i32, to: i32, limit: i32): i32 {
  const shift = to - start
  let at = start + 1
  store<u8>(to, QUOTE)
  while (at < end && at + shift + 18 <= limit) {
    const sixteen = v128.load(at)
    v128.store(at + shift, sixteen)
    const quotes = i8x16.eq(sixteen, i8x16.splat(0x22))
    const length = firstOf(v128.or(quotes, i8x16.eq(sixteen, i8x16.splat(0x5c))))
    at += length
    if (length == 16) continue
    if (byteAt(at) != BACKSLASH) return at + 1
    store<u16>(at + shift, load<u16>(at))
    at += 2
  }
  return -1
}

function breakLine(to: i32, depth: i32): i32 {
  store<u8>(to, LF)
  for (let i = 0; i < depth; i += 16) v128.store(to + 1 + i, i8x16.splat(0x20))
  return to + 1 + depth
}

/** Whether it is a closing bracket of either kind. */
function isClosing(code: u32): bool {
  return (code & 0xdf) == 0x5d
}

/**
 * Indents JSON.
 *
 * @param limit of the result
 * @returns its end; -1 if there is no room, -2 for white space between tokens
 */
export function indent(start: i32, end: i32, to: i32, limit: i32, level: i32): i32 {
  let depth = 2 * level
  let from = start
  let at = to
  while (from < end) {
    // Line breaks are written by sixteens.
    if (at + depth + 24 > limit) return -1
    const code = byteAt(from)
    if (code == QUOTE) {
      const after = copyString(from, end, at, limit)
      if (after < 0) return -1
      at += after - from
      from = after
      continue
    }
    if (code <= SPACE) return -2
    if (isClosing(code)) {
      depth -= 2
      at = breakLine(at, depth)
    }
    store<u8>(at++, code)
    from++
    if ((code & 0xdf) == 0x5b) {
      const next = byteAt(from)
      if (isClosing(next)) {
        store<u8>(at++, next)
        from++
      } else {
        depth += 2
        at = breakLine(at, depth)
      }
    } else if (code == COMMA) at = breakLine(at, depth)
    else if (code == COLON) store<u8>(at++, SPACE)
  }
  return at
}
