import { findJsonValue, isFault, skipString } from '../../wire/index.js'
import { hasPlainNumbers } from './compact.js'
import { placeOf } from './json-place.js'
import { hasLoneSurrogate, mayBeDeep } from '../session-json/demanding.js'

/** Maximum nesting of objects and arrays in importers. */
const deepest = 127

/**
 * The reason why importers reject a text as JSON, in their words; undefined when they accept it.
 *
 * @param outerDepth number of objects and arrays around the text
 * @param line 1-based, of the start of the text
 */
export function jsonFault(text: string, outerDepth = 0, line = 1): string | undefined {
  const span = isJson(text) ? undefined : findJsonValue(text)
  if (span && isFault(span))
    return `${phraseOf(span.reason, text, span.at)} at ${placeOf(text, span.at, line)}`
  const deep = tooDeepAt(text, deepest - outerDepth)
  if (deep !== -1) return `recursion limit exceeded at ${placeOf(text, deep, line)}`
  if (hasLoneSurrogate(text)) return `lone surrogate in a string at ${placeOf(text, 0, line)}`
  const far = numberOutOfRangeAt(text)
  return far === -1 ? undefined : `number out of range at ${placeOf(text, far, line)}`
}

/** For valid JSON, the engine's own parser is faster. */
function isJson(text: string): boolean {
  return text.length <= 1 << 20 && parsedOf(text) !== undefined
}

/** The result of `JSON.parse`; undefined for invalid JSON. The last one is cached for repeated calls. */
export function parsedOf(text: string): { readonly value: unknown } | undefined {
  if (text === lastText) return lastParsed
  lastText = text
  try {
    lastParsed = { value: JSON.parse(text) as unknown }
  } catch {
    lastParsed = undefined
  }
  return lastParsed
}

let lastText = ''
let lastParsed: { readonly value: unknown } | undefined

/** A parsed JSON object. */
export type Loose = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function phraseOf(reason: string, text: string, at: number): string {
  if (reason === 'unexpected text after the value') return 'trailing characters'
  if (reason === 'unexpected end of text' || at >= text.length) return 'EOF while parsing a value'
  return reason === 'expected a value' ? reason : `${reason}: expected value`
}

/** Start of the first object or array that is too deeply nested; -1 for none. */
function tooDeepAt(text: string, most: number): number {
  if (text.length <= 2 * most || !mayBeDeep(text, most)) return -1
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x22) at = skipString(text, at) - 1
    else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > most) return at
    } else if (code === 0x7d || code === 0x5d) depth -= 1
  }
  return -1
}

function numberOutOfRangeAt(text: string): number {
  if (hasPlainNumbers(text)) return -1
  const number = /-?[0-9][0-9.eE+-]*/y
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      at = skipString(text, at) - 1
      continue
    }
    number.lastIndex = at
    const digits = number.exec(text)?.[0]
    if (digits === undefined) continue
    if (!Number.isFinite(Number(digits))) return at
    at += digits.length - 1
  }
  return -1
}
