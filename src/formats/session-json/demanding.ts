import { skipValue } from '../../wire/index.js'

/**
 * Nesting that all common JSON readers support: pydantic's, which reads session files, stops at 200, and up to six
 * levels of the file surround a text.
 */
const deepest = 190
/** Digits of an integer that all common JSON readers accept; Python's refuses more than 4,300. */
const mostDigits = 4_000

/**
 * Whether a checked JSON text exceeds the limits of some JSON readers, which then refuse the whole file: too deep
 * nesting, an integer with too many digits, or a lone surrogate in a string, which strict readers refuse and which
 * cannot be re-encoded.
 */
export function isDemanding(text: string): boolean {
  return hasLoneSurrogate(text) || isBeyondLimits(text)
}

function isBeyondLimits(text: string): boolean {
  if (text.length <= deepest) return false
  if (text.length <= mostDigits && !mayBeDeep(text, deepest)) return false
  let depth = 0
  let digits = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) {
      digits += 1
      if (digits > mostDigits) return true
      continue
    }
    digits = 0
    if (code === 0x22) at = skipValue(text, at) - 1
    else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > deepest) return true
    } else if (code === 0x7d || code === 0x5d) depth -= 1
  }
  return false
}

/** Whether there are this many brackets. Includes those in strings, which is faster and rarely matters. */
export function mayBeDeep(text: string, most: number): boolean {
  let open = 0
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) if (++open > most) return true
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) if (++open > most) return true
  return false
}

/** Text for `metadata.wiretape`: itself, or a JSON string of it when it exceeds the limits of other readers. */
export function inReach(json: string): string {
  return isDemanding(json) ? JSON.stringify(json) : json
}

/** Escape of a lone surrogate: legal JSON, but not encodable as UTF-8. */
export function hasLoneSurrogate(text: string): boolean {
  if (!text.includes('\\u') || !/\\u[dD][89a-fA-F]/.test(text)) return false
  let high = false
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) !== 0x5c) {
      if (high) return true
      continue
    }
    const unit = text.charAt(at + 1) === 'u' ? parseInt(text.slice(at + 2, at + 6), 16) : 0
    const isLow = unit >= 0xdc00 && unit <= 0xdfff
    if (isLow !== high) return true
    high = unit >= 0xd800 && unit <= 0xdbff
    at += text.charAt(at + 1) === 'u' ? 5 : 1
  }
  return high
}

/** Text for a documented member: without lone surrogates. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}
