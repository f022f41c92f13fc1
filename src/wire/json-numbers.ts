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
 * The canonical decimal form of a JSON number. Equal numbers give equal forms, at any size and precision
 * (`1`, `1.0`, `1e0` and `10e-1` give `1`; `-0` gives `0`). Plain digits where that takes few zeros,
 * otherwise `1.5e300`. Exponents are never expanded. Text that is not a number, or has an exponent of more
 * than 15 digits, is returned unchanged.
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
  const exponent = readExponent(text, digitsEnd)
  return exponent === undefined ? text : (negative ? '-' : '') + placePoint(digits, exponent, shift)
}

/** Digits only, few enough to be canonical already, as most ids and numbers in messages are. */
function isPlainInteger(text: string): boolean {
  if (text.length > SAFE_DIGITS || text.length === 0) return false
  if (text.charCodeAt(0) === ZERO) return text.length === 1
  for (let i = 0; i < text.length; i += 1) if (!isDigit(text.charCodeAt(i))) return false
  return true
}

/** Zero without an exponent; undefined when the exponent has too many digits to be exact. */
function readExponent(text: string, pos: number): number | undefined {
  if (pos === text.length) return 0
  const sign = codeAt(text, pos + 1)
  let start = isSign(sign) ? pos + 2 : pos + 1
  while (codeAt(text, start) === ZERO) start++
  if (text.length - start > SAFE_DIGITS) return undefined
  return (sign === 0x2d ? -1 : 1) * Number(text.slice(start))
}

/** Exponents of up to this many digits stay exact as a number, even after adding a text's length. */
const SAFE_DIGITS = 15

function placePoint(digits: string, exponent: number, shift: number): string {
  const scientific = digits.length > 1 ? `${digits.slice(0, 1)}.${digits.slice(1)}` : digits
  const zeros = exponent + shift
  const point = digits.length + zeros
  if (zeros >= 0 && zeros <= 20) return digits + '0'.repeat(zeros)
  if (zeros < 0 && point > 0) return `${digits.slice(0, point)}.${digits.slice(point)}`
  if (zeros < 0 && point > -6) return `0.${'0'.repeat(-point)}${digits}`
  return `${scientific}e${exponent + shift + digits.length - 1}`
}
