import { isHex, isShortEscape } from './json-escapes.js'
import { messageMemory } from './message-memory.js'

/**
 * JSON in bytes, checked while it is skipped. A line feed must follow in the bytes: it ends every loop, because a JSON
 * text on one line contains none. All functions return the index after the skipped part, or -1.
 */

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c
const LOWER_U = 0x75
const CLOSE_ARRAY = 0x5d
const CLOSE_OBJECT = 0x7d

/** Digits that a JavaScript number always holds exactly. */
const mostDigits = 15
/** Deeper values are refused. */
const deepest = 200

/** Values so far that some JSON readers refuse, with a margin: deep nesting, long numbers, escaped surrogates. */
export const unusualValues = { count: 0 }
const unusualDepth = 180
const unusualDigits = 3_900

export function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at] === 0x20 || bytes[at] === 0x09) at += 1
  return at
}

/** 1 for bytes that end a run of plain characters: quote, backslash, control character, non-ASCII byte. */
const endsRun = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === QUOTE || byte === BACKSLASH || byte < 0x20 || byte >= 0x80 ? 1 : 0,
)

/** From this length on, a run of plain characters is read by fours. */
const longRun = 128

/** Index of the byte that ends a run of plain characters. */
function runEnd(bytes: Uint8Array, start: number): number {
  const near = start + longRun
  let at = start
  while (endsRun[bytes[at]!] === 0) {
    at += 1
    if (at === near) return longRunEnd(bytes, at)
  }
  return at
}

/** As `runEnd`, with four bytes at once, twice as fast. */
function longRunEnd(bytes: Uint8Array, start: number): number {
  let at = start
  while (((bytes.byteOffset + at) & 3) !== 0) {
    if (endsRun[bytes[at]!] !== 0) return at
    at += 1
  }
  const fours = new Int32Array(bytes.buffer, bytes.byteOffset + at, (bytes.length - at) >> 2)
  let i = 0
  for (; i < fours.length; i += 1) {
    const four = fours[i]!
    const quotes = four ^ 0x22222222
    const backslashes = four ^ 0x5c5c5c5c
    // The highest bit of a byte: not ASCII, below 0x20, a quote, or a backslash. A borrow makes only the byte above it wrong.
    if ((four | (four - 0x20202020) | (quotes - 0x01010101) | (backslashes - 0x01010101)) & highest) break
  }
  at += 4 * i
  while (endsRun[bytes[at]!] === 0) at += 1
  return at
}

const highest = 0x80808080 | 0

/** @param start just after the opening quote */
export function skipText(bytes: Uint8Array, start: number): number {
  let at = start
  for (;;) {
    at = runEnd(bytes, at)
    const byte = bytes[at]!
    at += 1
    if (byte === QUOTE) return at
    if (byte < 0x20) return -1
    if (byte === BACKSLASH) at = skipEscape(bytes, at)
    else if (byte >= 0x80) at = skipWide(bytes, at - 1)
    if (at < 0) return -1
  }
}

/** Like `skipText`, for ASCII text without escapes only. */
export function skipPlainText(bytes: Uint8Array, start: number): number {
  const at = runEnd(bytes, start)
  return bytes[at] === QUOTE ? at + 1 : -1
}

function skipEscape(bytes: Uint8Array, start: number): number {
  const code = bytes[start]
  if (isShortEscape(code)) return start + 1
  if (code !== LOWER_U) return -1
  for (let at = start + 1; at < start + 5; at += 1) if (!isHex(bytes[at]!)) return -1
  // d: the first digit of a surrogate
  if ((bytes[start + 1]! | 0x20) === 0x64) unusualValues.count += 1
  return start + 5
}

/** One character of two to four bytes in valid UTF-8 (Unicode, table 3-7). */
function skipWide(bytes: Uint8Array, start: number): number {
  const first = bytes[start]!
  const second = bytes[start + 1]!
  if (first < 0xc2 || first > 0xf4) return -1
  if (first < 0xe0) return isTrail(second) ? start + 2 : -1
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (second < least || second > most || !isTrail(bytes[start + 2]!)) return -1
  if (first < 0xf0) return start + 3
  return isTrail(bytes[start + 3]!) ? start + 4 : -1
}

function isTrail(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}

export function skipNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start
  if (bytes[at] === ZERO) at += 1
  else at = skipDigits(bytes, at)
  if (at > 0 && bytes[at] === 0x2e) at = skipDigits(bytes, at + 1)
  if (at > 0 && (bytes[at]! | 0x20) === 0x65) {
    const sign = bytes[at + 1]
    at = skipDigits(bytes, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1)
  }
  return at
}

/** Requires at least one digit. */
export function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at]! >= ZERO && bytes[at]! <= NINE) at += 1
  if (at - start > unusualDigits) unusualValues.count += 1
  return at === start ? -1 : at
}

/** A number without sign, fraction or leading zeros: 0, 1, 2 and so on. */
export function skipCount(bytes: Uint8Array, start: number): number {
  const at = skipDigits(bytes, start)
  if (at - start > mostDigits || (bytes[start] === 0x30 && at - start > 1)) return -1
  return at
}

/** The value of digits. */
export function numberAt(bytes: Uint8Array, start: number, end: number): number {
  let value = 0
  for (let at = start; at < end; at += 1) value = value * 10 + bytes[at]! - 0x30
  return value
}

/** Any value at `start`. */
export function skipAny(bytes: Uint8Array, start: number, depth = 0): number {
  if (depth === 0 && bytes.buffer === messageMemory?.buffer) return skipInMemory(bytes.byteOffset, start)
  switch (bytes[start]) {
    case QUOTE:
      return skipText(bytes, start + 1)
    case 0x7b:
      return depth < deepest ? skipObject(bytes, start + 1, depth + 1) : -1
    case 0x5b:
      return depth < deepest ? skipArray(bytes, start + 1, depth + 1) : -1
    case 0x74:
      return matches(bytes, start, words.true) ? start + 4 : -1
    case 0x66:
      return matches(bytes, start, words.false) ? start + 5 : -1
    case 0x6e:
      return matches(bytes, start, words.null) ? start + 4 : -1
    default:
      return skipNumber(bytes, start)
  }
}

/** As `skipAny`, with the same result. @param address of the bytes in `messageMemory` */
function skipInMemory(address: number, start: number): number {
  const end = messageMemory!.call.skip(address + start)
  if (end >= 0) return end - address
  if (end === -1) return -1
  unusualValues.count += 1
  return ~end - address
}

function skipObject(bytes: Uint8Array, start: number, depth: number): number {
  if (depth > unusualDepth) unusualValues.count += 1
  let at = skipSpace(bytes, start)
  if (bytes[at] === CLOSE_OBJECT) return at + 1
  for (;;) {
    if (bytes[at] !== QUOTE) return -1
    at = skipText(bytes, at + 1)
    if (at < 0) return -1
    at = skipSpace(bytes, at)
    if (bytes[at] !== COLON) return -1
    at = skipAny(bytes, skipSpace(bytes, at + 1), depth)
    if (at < 0) return -1
    at = skipSpace(bytes, at)
    if (bytes[at] === CLOSE_OBJECT) return at + 1
    if (bytes[at] !== COMMA) return -1
    at = skipSpace(bytes, at + 1)
  }
}

function skipArray(bytes: Uint8Array, start: number, depth: number): number {
  if (depth > unusualDepth) unusualValues.count += 1
  let at = skipSpace(bytes, start)
  if (bytes[at] === CLOSE_ARRAY) return at + 1
  for (;;) {
    at = skipAny(bytes, at, depth)
    if (at < 0) return -1
    at = skipSpace(bytes, at)
    if (bytes[at] === CLOSE_ARRAY) return at + 1
    if (bytes[at] !== COMMA) return -1
    at = skipSpace(bytes, at + 1)
  }
}

export function matches(bytes: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i += 1) if (bytes[start + i] !== word[i]) return false
  return true
}

/** ASCII only. */
export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i)
  return bytes
}

const words = { true: bytesOf('true'), false: bytesOf('false'), null: bytesOf('null') }
