import { isHex, isShortEscape } from './json-escapes.js'

/** The characters of JSON text: white space and strings. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LOWER_U = 0x75

/** Characters of a string that are read one by one; beyond, native searches are faster. Found by measuring. */
const SHORT_RUN = 40
/** The same for searches for only the closing quote. */
const SHORT_SKIP = 8

/** Code unit at `pos`, -1 outside. (Reading past the end would make the engine leave its fast path.) */
export function codeAt(text: string, pos: number): number {
  return pos < text.length ? text.charCodeAt(pos) : -1
}

/** Index of the first character at or after `pos` that is not JSON white space. */
export function skipWhiteSpace(text: string, pos: number): number {
  while (pos < text.length) {
    const code = text.charCodeAt(pos)
    if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) return pos
    pos++
  }
  return pos
}

/**
 * The positions of the next quote, backslash and control character. Each is searched again only after it was
 * passed, which keeps a whole scan linear.
 */
export interface LookAhead {
  quote: number
  backslash: number
  control: number
}

/** A look-ahead for one scan over one text. */
export function lookAhead(): LookAhead {
  return { quote: -1, backslash: -1, control: -1 }
}

/**
 * Strict: `pos` is just after the opening quote. Returns the index after the closing quote, or `~index` of
 * the error: a control character, a character after a backslash, or the end of the text.
 */
export function scanString(text: string, pos: number, ahead: LookAhead): number {
  const length = text.length
  for (;;) {
    const shortEnd = Math.min(pos + SHORT_RUN, length)
    let code = -1
    while (pos < shortEnd) {
      code = text.charCodeAt(pos)
      if (code <= BACKSLASH && (code === QUOTE || code === BACKSLASH || code < 0x20)) break
      pos++
    }
    if (pos === shortEnd) {
      pos = nextSpecial(text, pos, ahead)
      if (pos >= length) return ~length
      code = text.charCodeAt(pos)
    }
    if (code === QUOTE) return pos + 1
    if (code !== BACKSLASH) return ~pos
    pos = scanEscape(text, pos + 1)
    if (pos < 0) return pos
  }
}

const CONTROL = /[\u0000-\u001f]/g

/** Index of the first quote, backslash or control character at or after `pos`, or the text's length. */
function nextSpecial(text: string, pos: number, ahead: LookAhead): number {
  if (ahead.quote < pos) ahead.quote = indexOrEnd(text, text.indexOf('"', pos))
  if (ahead.backslash < pos) ahead.backslash = indexOrEnd(text, text.indexOf('\\', pos))
  if (ahead.control < pos) {
    CONTROL.lastIndex = pos
    ahead.control = CONTROL.test(text) ? CONTROL.lastIndex - 1 : text.length
  }
  return Math.min(ahead.quote, ahead.backslash, ahead.control)
}

function indexOrEnd(text: string, index: number): number {
  return index < 0 ? text.length : index
}

/** `pos` is just after the backslash. Index after the escape, or `~index` of the invalid character. */
function scanEscape(text: string, pos: number): number {
  const code = codeAt(text, pos)
  if (isShortEscape(code)) return pos + 1
  if (code !== LOWER_U) return ~pos
  for (let at = pos + 1; at < pos + 5; at++) if (!isHex(codeAt(text, at))) return ~at
  return pos + 5
}

/** Trusted: index after the closing quote of the string whose opening quote is at `start`. */
export function skipString(text: string, start: number): number {
  const length = text.length
  const shortEnd = Math.min(start + SHORT_SKIP, length)
  let pos = start + 1
  while (pos < shortEnd) {
    const code = text.charCodeAt(pos)
    if (code === QUOTE) return pos + 1
    pos += code === BACKSLASH ? 2 : 1
  }
  // All characters before `pos` have been read, so a run of backslashes counts from `pos`.
  for (const first = pos; ; pos++) {
    pos = text.indexOf('"', pos)
    if (pos < 0) return length
    let run = pos
    while (run > first && text.charCodeAt(run - 1) === BACKSLASH) run--
    if (((pos - run) & 1) === 0) return pos + 1
  }
}

/**
 * Trusted: the decoded string between the quotes at `start` and `end - 1`; lone surrogates are kept. May
 * share memory with `text`, and so keep all of `text` alive.
 */
export function decodeString(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1)
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner
}
