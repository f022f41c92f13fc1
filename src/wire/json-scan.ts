/** Strict: locates the value in a text, or the error. Builds no values. */
import { scanNumber } from './json-numbers.js'
import { codeAt, lookAhead, scanString, skipWhiteSpace } from './json-strings.js'

/** Half-open range of UTF-16 code units in a text. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The error in a text that is not JSON. */
export interface JsonFault {
  /** Index of the first invalid character; the end of the searched range when the text is incomplete. */
  readonly at: number
  /** A short phrase, such as `unexpected end of text` or `expected ',' or '}'`. */
  readonly reason: string
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = OPEN_ARRAY + 2
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = OPEN_OBJECT + 2

/** Whether `findJsonValue`, or a function built on it, found no JSON. */
export function isFault(outcome: object): outcome is JsonFault {
  return 'reason' in outcome
}

/**
 * The one JSON value in `text` between `from` and `to`, without surrounding white space; or the place and the
 * reason of the error. Accepts exactly what `JSON.parse` accepts. Linear, at any nesting depth; never throws.
 *
 * @param mayHaveControls false if the text certainly contains no control characters: they are then not searched for
 */
export function findJsonValue(
  text: string,
  from = 0,
  to = text.length,
  mayHaveControls = true,
): Span | JsonFault {
  // Cutting off the end keeps every look-ahead inside the range. (Engines share the characters.)
  const source = to < text.length ? text.slice(0, Math.max(0, to)) : text
  const ahead = lookAhead()
  if (!mayHaveControls) ahead.control = source.length
  const start = skipWhiteSpace(source, Math.max(0, from))
  let pos = start
  // One bit per open container, the innermost lowest, 1 for an object. `bits` holds the innermost 32 and is
  // stored away when full: shallow text allocates nothing, a million levels take 31,250 numbers.
  let depth = 0
  let bits = 0
  let setAside: number[] | undefined
  let nameDue = false

  for (;;) {
    if (nameDue) {
      if (codeAt(source, pos) !== QUOTE) return fault(source, pos, 'expected a member name')
      pos = scanString(source, pos + 1, ahead)
      if (pos < 0) return stringFault(source, ~pos)
      pos = skipWhiteSpace(source, pos)
      if (codeAt(source, pos) !== COLON) return fault(source, pos, "expected ':'")
      pos = skipWhiteSpace(source, pos + 1)
    }

    const code = codeAt(source, pos)
    if (code === QUOTE) {
      pos = scanString(source, pos + 1, ahead)
      if (pos < 0) return stringFault(source, ~pos)
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      pos = skipWhiteSpace(source, pos + 1)
      if (codeAt(source, pos) !== code + 2) {
        if ((depth & 31) === 0 && depth > 0) (setAside ??= []).push(bits)
        nameDue = code === OPEN_OBJECT
        bits = (bits << 1) | (nameDue ? 1 : 0)
        depth++
        continue
      }
      pos++
    } else {
      pos = scanPlain(source, pos, code)
      if (pos < 0) return plainFault(source, ~pos, code)
    }

    // A value ended just before `pos`: close what it completes, up to the comma before the next value.
    for (;;) {
      const valueEnd = pos
      pos = skipWhiteSpace(source, pos)
      if (depth === 0) {
        return pos < source.length
          ? { at: pos, reason: 'unexpected text after the value' }
          : { start, end: valueEnd }
      }
      const next = codeAt(source, pos)
      nameDue = (bits & 1) === 1
      if (next === COMMA) {
        pos = skipWhiteSpace(source, pos + 1)
        break
      }
      if (next !== (nameDue ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        return fault(source, pos, nameDue ? "expected ',' or '}'" : "expected ',' or ']'")
      }
      pos++
      depth--
      bits = (depth & 31) === 0 && depth > 0 ? (setAside?.pop() ?? 0) : bits >> 1
    }
  }
}

/** Index after the number or literal at `pos`, or `~index` of the invalid character. */
function scanPlain(text: string, pos: number, code: number): number {
  if (code === 0x74) return scanLiteral(text, pos, 'true')
  if (code === 0x66) return scanLiteral(text, pos, 'false')
  if (code === 0x6e) return scanLiteral(text, pos, 'null')
  return scanNumber(text, pos)
}

function scanLiteral(text: string, pos: number, literal: string): number {
  if (text.startsWith(literal, pos)) return pos + literal.length
  let same = 1
  while (codeAt(text, pos + same) === literal.charCodeAt(same)) same++
  return ~(pos + same)
}

function fault(text: string, at: number, reason: string): JsonFault {
  return at < text.length ? { at, reason } : { at: text.length, reason: 'unexpected end of text' }
}

function stringFault(text: string, at: number): JsonFault {
  return fault(text, at, codeAt(text, at) < 0x20 ? 'control character in a string' : 'bad escape in a string')
}

function plainFault(text: string, at: number, first: number): JsonFault {
  const isNumber = first === 0x2d || (first >= 0x30 && first <= 0x39)
  const isWord = first === 0x74 || first === 0x66 || first === 0x6e
  return fault(text, at, isNumber ? 'malformed number' : isWord ? 'unknown word' : 'expected a value')
}
