/** JSON numbers as text: exact at any size, never as floating point. */
import { codeAt } from './json-strings.js'

const ZERO = 0x30
const NINE = 0x39

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

function skipDigits(text: string, pos: number): number {
  while (pos < text.length && isDigit(text.charCodeAt(pos))) pos++
  return pos
}

function isPoint(code: number): boolean {
  return code === 0x2e
}

function isExponentMark(code: number): boolean {
  return (code | 0x20) === 0x65
}

function isSign(code: number): boolean {
  return code === 0x2b || code === 0x2d
}

/** Strict: index after the number that starts at `pos`, or `~index` of the character that breaks it. */
export function scanNumber(text: string, pos: number): number {
  if (codeAt(text, pos) === 0x2d) pos++
  const first = codeAt(text, pos)
  if (!isDigit(first)) return ~pos
  pos = first === ZERO ? pos + 1 : skipDigits(text, pos)
  let code = codeAt(text, pos)
  if (isPoint(code)) {
    if (!isDigit(codeAt(text, ++pos))) return ~pos
    pos = skipDigits(text, pos)
    code = codeAt(text, pos)
  }
  if (isExponentMark(code)) {
    if (isSign(codeAt(text, ++pos))) pos++
    if (!isDigit(codeAt(text, pos))) return ~pos
    pos = skipDigits(text, pos)
  }
  return pos
}

/**
 * The one decimal form of the number that a JSON number text means: equal numbers give equal forms, at any
 * size and precision (`1`, `1.0`, `1e0` and `10e-1` give `1`; `-0` gives `0`). Plain digits where that takes
 * few zeros, else `1.5e300`. Exponents are never expanded. Text that is not a number is returned unchanged.
 */
export function canonicalNumber(text: string): string {
  if (isPlainInteger(text)) return text
  if (scanNumber(text, 0) !== text.length) return text
  const negative = text.startsWith('-')
  const wholeStart = negative ? 1 : 0
  const wholeEnd = skipDigits(text, wholeStart)
  const hasFraction = isPoint(codeAt(text, wholeEnd))
  const digitsEnd = hasFraction ? skipDigits(text, wholeEnd + 1) : wholeEnd
  const fraction = hasFraction ? text.slice(wholeEnd + 1, digitsEnd) : ''
  const all = text.slice(wholeStart, wholeEnd) + fraction

  let start = 0
  while (start < all.length && all.charCodeAt(start) === ZERO) start++
  if (start === all.length) return '0'
  let end = all.length
  while (all.charCodeAt(end - 1) === ZERO) end--
  const digits = all.slice(start, end)
  // The number is digits × 10^(written exponent + shift).
  const shift = all.length - end - fraction.length
  return (negative ? '-' : '') + placePoint(digits, readExponent(text, digitsEnd), shift)
}

/** Digits only, few enough that it is its own canonical form: what ids and numbers of messages are. */
function isPlainInteger(text: string): boolean {
  if (text.length > SAFE_DIGITS || text.length === 0) return false
  if (text.charCodeAt(0) === ZERO) return text.length === 1
  for (let i = 0; i < text.length; i += 1) if (!isDigit(text.charCodeAt(i))) return false
  return true
}

interface Exponent {
  readonly negative: boolean
  /** Decimal, without leading zeros; empty for zero. */
  readonly digits: string
}

function readExponent(text: string, pos: number): Exponent {
  if (pos === text.length) return { negative: false, digits: '' }
  const sign = codeAt(text, pos + 1)
  let start = isSign(sign) ? pos + 2 : pos + 1
  while (codeAt(text, start) === ZERO) start++
  return { negative: sign === 0x2d, digits: text.slice(start) }
}

/** Exponents of up to this many digits, and anything a text's length can add, are exact as a number. */
const SAFE_DIGITS = 15
const SAFE_LIMIT = 1e15

function placePoint(digits: string, exponent: Exponent, shift: number): string {
  const scientific = digits.length > 1 ? `${digits.slice(0, 1)}.${digits.slice(1)}` : digits
  const scientificShift = shift + digits.length - 1
  if (exponent.digits.length > SAFE_DIGITS) return `${scientific}e${addToExponent(exponent, scientificShift)}`
  const written = (exponent.negative ? -1 : 1) * Number(exponent.digits)
  const zeros = written + shift
  const point = digits.length + zeros
  if (zeros >= 0 && zeros <= 20) return digits + '0'.repeat(zeros)
  if (zeros < 0 && point > 0) return `${digits.slice(0, point)}.${digits.slice(point)}`
  if (zeros < 0 && point > -6) return `0.${'0'.repeat(-point)}${digits}`
  return `${scientific}e${written + scientificShift}`
}

/**
 * The sum in decimal, for an exponent of more than 15 digits. `delta` comes from the length of a text, so it
 * never reaches the sign: only the low digits change, and a carry or a borrow runs up from them.
 */
function addToExponent({ negative, digits }: Exponent, delta: number): string {
  const split = digits.length - SAFE_DIGITS
  let low = Number(digits.slice(split)) + (negative ? -delta : delta)
  let high = digits.slice(0, split)
  if (low >= SAFE_LIMIT) {
    low -= SAFE_LIMIT
    high = step(high, NINE, ZERO, 1)
  } else if (low < 0) {
    low += SAFE_LIMIT
    high = step(high, ZERO, NINE, -1)
  }
  const sum = high + String(low).padStart(SAFE_DIGITS, '0')
  return (negative ? '-' : '') + sum.replace(/^0+/, '')
}

/** Adds `by` (1 or -1) to a positive decimal text: a tail of `full` digits turns over to `over`. */
function step(digits: string, full: number, over: number, by: 1 | -1): string {
  let turn = digits.length
  while (turn > 0 && digits.charCodeAt(turn - 1) === full) turn--
  const tail = String.fromCharCode(over).repeat(digits.length - turn)
  if (turn === 0) return `1${tail}`
  return digits.slice(0, turn - 1) + String(digits.charCodeAt(turn - 1) - ZERO + by) + tail
}
