import { skipValue } from '../../wire/index.js'

/**
 * Nesting that every JSON reader in use follows: pydantic's, which reads session files, gives up at 200, and up to
 * six levels of the file stand around a text.
 */
const deepest = 190
/** Digits of a whole number that every JSON reader in use takes; Python's refuses more than 4,300. */
const mostDigits = 4_000

/**
 * Whether a checked JSON text is more than some readers of JSON can take, which then refuse the whole file it
 * stands in: nested too deeply, with a whole number of too many digits, or with half a character in a string, which
 * strict readers refuse and which no text that is written again can hold.
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

/** Whether there are so many brackets. Counts those inside strings too, which is quicker and seldom matters. */
export function mayBeDeep(text: string, most: number): boolean {
  let open = 0
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) if (++open > most) return true
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) if (++open > most) return true
  return false
}

/** Text as it may stand in `metadata.wiretape`: itself, or where that is too much for others a string of it. */
export function inReach(json: string): string {
  return isDemanding(json) ? JSON.stringify(json) : json
}

/** An escape of half a character: legal JSON, and no text that can be written as UTF-8. */
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

/** Text that can stand in a documented member: it has no half characters. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}
