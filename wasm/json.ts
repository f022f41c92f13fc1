/**
 * JSON in the module's memory, checked while it is skipped, with the results of `src/wire/json-bytes.ts`. A line feed must
 * follow: it ends every loop. Positions are addresses; -1 means that the JSON is refused.
 */

export const LF: u32 = 0x0a
export const SPACE: u32 = 0x20
export const QUOTE: u32 = 0x22
export const COMMA: u32 = 0x2c
export const COLON: u32 = 0x3a
export const BACKSLASH: u32 = 0x5c
const OPEN_ARRAY: u32 = 0x5b
const CLOSE_ARRAY: u32 = 0x5d
export const OPEN_OBJECT: u32 = 0x7b
export const CLOSE_OBJECT: u32 = 0x7d

/** Digits that a JavaScript number always holds exactly. */
const mostDigits: i32 = 15
/** Deeper values are refused. */
const deepest: i32 = 200

export function byteAt(at: i32): u32 {
  return load<u8>(at)
}

export function matches(at: i32, word: string): bool {
  const letters = changetype<usize>(word)
  for (let i = 0; i < word.length; i++) if (byteAt(at + i) != <u32>load<u16>(letters + 2 * i)) return false
  return true
}

export function isWord(at: i32, length: i32, word: string): bool {
  return length == word.length && matches(at, word)
}

export function skipSpace(start: i32): i32 {
  let at = start
  while (byteAt(at) == 0x20 || byteAt(at) == 0x09) at++
  return at
}

/**
 * Position of the next quote, backslash, control character or, with `i8`, byte beyond ASCII: as signed numbers, those
 * are below 0x20 too. With `u8`, they are not.
 */
function runEnd<T>(start: i32): i32 {
  let at = start
  while (true) {
    const sixteen = v128.load(at)
    const quotes = i8x16.eq(sixteen, i8x16.splat(0x22))
    const backslashes = i8x16.eq(sixteen, i8x16.splat(0x5c))
    const others = v128.lt<T>(sixteen, i8x16.splat(0x20))
    const ends = i8x16.bitmask(v128.or(v128.or(quotes, backslashes), others))
    if (ends != 0) return at + ctz(ends)
    at += 16
  }
}

/** As in `src/wire/json-bytes.ts`, but not counted. */
let isUnusual: bool = false
const unusualDepth: i32 = 180
const unusualDigits: i32 = 3900

function isHex(code: u32): bool {
  return code - 0x30 < 10 || (code | 0x20) - 0x61 < 6
}

/** @param at just after the backslash */
function skipEscape(at: i32): i32 {
  switch (byteAt(at)) {
    case 0x22:
    case 0x5c:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return at + 1
    case 0x75: {
      for (let i = 1; i < 5; i++) if (!isHex(byteAt(at + i))) return -1
      // d: the first digit of a surrogate
      if ((byteAt(at + 1) | 0x20) == 0x64) isUnusual = true
      return at + 5
    }
    default:
      return -1
  }
}

function isTrail(byte: u32): bool {
  return (byte & 0xc0) == 0x80
}

/** One character of two to four bytes in valid UTF-8 (Unicode, table 3-7). */
function skipWide(start: i32): i32 {
  const first = byteAt(start)
  const second = byteAt(start + 1)
  if (first < 0xc2 || first > 0xf4) return -1
  if (first < 0xe0) return isTrail(second) ? start + 2 : -1
  const least: u32 = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80
  const most: u32 = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf
  if (second < least || second > most || !isTrail(byteAt(start + 2))) return -1
  if (first < 0xf0) return start + 3
  return isTrail(byteAt(start + 3)) ? start + 4 : -1
}

let isUtf8: bool = false

/** Says whether texts are valid UTF-8, so that they are not checked for that. */
export function useUtf8(isValid: bool): void {
  isUtf8 = isValid
}

/** @param start just after the opening quote */
function skipText(start: i32): i32 {
  let at = start
  while (true) {
    at = isUtf8 ? runEnd<u8>(at) : runEnd<i8>(at)
    const byte = byteAt(at)
    if (byte == QUOTE) return at + 1
    if (byte < 0x20) return -1
    at = byte == BACKSLASH ? skipEscape(at + 1) : skipWide(at)
    if (at < 0) return -1
  }
}

/** As `skipText`, for ASCII text without escapes only. */
export function skipPlainText(start: i32): i32 {
  const at = runEnd<i8>(start)
  return byteAt(at) == QUOTE ? at + 1 : -1
}

function skipDigits(start: i32): i32 {
  let at = start
  while (byteAt(at) - 0x30 < 10) at++
  if (at - start > unusualDigits) isUnusual = true
  return at == start ? -1 : at
}

/** A number without sign, fraction or leading zeros. */
export function skipCount(start: i32): i32 {
  const at = skipDigits(start)
  return at - start > mostDigits || (byteAt(start) == 0x30 && at - start > 1) ? -1 : at
}

function skipNumber(start: i32): i32 {
  let at = byteAt(start) == 0x2d ? start + 1 : start
  at = byteAt(at) == 0x30 ? at + 1 : skipDigits(at)
  if (at > 0 && byteAt(at) == 0x2e) at = skipDigits(at + 1)
  if (at > 0 && (byteAt(at) | 0x20) == 0x65) {
    const sign = byteAt(at + 1)
    at = skipDigits(sign == 0x2b || sign == 0x2d ? at + 2 : at + 1)
  }
  return at
}

/** Numbers stand for `true`, `alse` and `null`, which are read at once. */
export function skipAny(start: i32, depth: i32): i32 {
  switch (byteAt(start)) {
    case QUOTE:
      return skipText(start + 1)
    case OPEN_OBJECT:
      return depth < deepest ? skipObject(start + 1, depth + 1) : -1
    case OPEN_ARRAY:
      return depth < deepest ? skipArray(start + 1, depth + 1) : -1
    case 0x74:
      return load<u32>(start) == 0x65757274 ? start + 4 : -1
    case 0x66:
      return load<u32>(start + 1) == 0x65736c61 ? start + 5 : -1
    case 0x6e:
      return load<u32>(start) == 0x6c6c756e ? start + 4 : -1
    default:
      return skipNumber(start)
  }
}

/** From the opening quote of a name to its value; -1 if there is none. */
export function skipColon(nameEnd: i32): i32 {
  if (nameEnd < 0) return -1
  const at = skipSpace(nameEnd)
  return byteAt(at) == COLON ? skipSpace(at + 1) : -1
}

function skipObject(start: i32, depth: i32): i32 {
  if (depth > unusualDepth) isUnusual = true
  let at = skipSpace(start)
  if (byteAt(at) == CLOSE_OBJECT) return at + 1
  while (true) {
    if (byteAt(at) != QUOTE) return -1
    at = skipColon(skipText(at + 1))
    if (at < 0) return -1
    at = skipAny(at, depth)
    if (at < 0) return -1
    at = skipSpace(at)
    if (byteAt(at) == CLOSE_OBJECT) return at + 1
    if (byteAt(at) != COMMA) return -1
    at = skipSpace(at + 1)
  }
}

function skipArray(start: i32, depth: i32): i32 {
  if (depth > unusualDepth) isUnusual = true
  let at = skipSpace(start)
  if (byteAt(at) == CLOSE_ARRAY) return at + 1
  while (true) {
    at = skipAny(at, depth)
    if (at < 0) return -1
    at = skipSpace(at)
    if (byteAt(at) == CLOSE_ARRAY) return at + 1
    if (byteAt(at) != COMMA) return -1
    at = skipSpace(at + 1)
  }
}

/** As `skipAny`, but with the complement of the position after an unusual value. */
export function skip(start: i32): i32 {
  isUnusual = false
  const end = skipAny(start, 0)
  return isUnusual && end >= 0 ? ~end : end
}
