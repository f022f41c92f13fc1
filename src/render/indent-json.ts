import { findJsonValue, isFault, skipValue } from '../wire/index.js'

/** Deeper levels are not indented further, so that deep text grows only by a constant factor. */
const MAX_INDENTED_LEVEL = 40

/** Characters; engines cannot hold strings much longer than twice this. */
const MAX_OUTPUT = 2 ** 28

/** Minimum characters of a piece; a single token may be longer. */
const PIECE_LENGTH = 2 ** 16

/**
 * Indented JSON text for people. Only white space changes: numbers, escapes, duplicate members and order stay
 * as written. Text that is not JSON, and text whose indented form would exceed 256 million characters, is
 * returned unchanged.
 *
 * @param indent spaces per level, 0 to 10
 * @default 2
 */
export function indentJson(text: string, indent = 2): string {
  let indented = ''
  for (const piece of indentedPieces(text, indent)) indented += piece
  return indented
}

/** The text of `indentJson` in pieces, since large texts have millions of tokens. No token is split. */
export function* indentedPieces(text: string, indent = 2): Generator<string, void, undefined> {
  const found = findJsonValue(text)
  const breaks = lineBreaks(Math.min(10, Math.max(0, Math.trunc(indent) || 0)))
  if (isFault(found) || isTooLong(text, found, breaks)) {
    yield text
    return
  }
  let piece = ''
  for (const token of tokensOf(text, found, breaks)) {
    piece += token
    if (piece.length < PIECE_LENGTH) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

interface Span {
  readonly start: number
  readonly end: number
}

function isTooLong(text: string, found: Span, breaks: readonly string[]): boolean {
  // A token has at least one character and at most one line break.
  if (text.length * (1 + breaks.at(-1)!.length) <= MAX_OUTPUT) return false
  let length = 0
  for (const token of tokensOf(text, found, breaks)) {
    length += token.length
    if (length > MAX_OUTPUT) return true
  }
  return false
}

/** Tokens and the white space between them. */
function* tokensOf(text: string, { start, end }: Span, breaks: readonly string[]): Generator<string> {
  let depth = 0
  let justOpened = false
  const lineBreak = (): string => breaks[Math.min(depth, MAX_INDENTED_LEVEL)]!

  let pos = start
  while (pos < end) {
    const char = text.charAt(pos)
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') {
      pos++
      continue
    }
    if (char === '}' || char === ']') {
      depth--
      if (!justOpened) yield lineBreak()
      justOpened = false
      yield char
      pos++
      continue
    }
    if (justOpened) yield lineBreak()
    justOpened = char === '{' || char === '['
    if (justOpened) {
      depth++
      yield char
      pos++
    } else if (char === ',') {
      yield char
      yield lineBreak()
      pos++
    } else if (char === ':') {
      yield ': '
      pos++
    } else {
      const next = skipValue(text, pos)
      yield text.slice(pos, next)
      pos = next
    }
  }
}

function lineBreaks(width: number): string[] {
  return Array.from({ length: MAX_INDENTED_LEVEL + 1 }, (_, level) => '\n' + ' '.repeat(width * level))
}
