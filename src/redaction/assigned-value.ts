import type { Span } from '../wire/index.js'
import { marker } from './marker.js'

interface Surroundings {
  readonly broad: boolean
  /** The name stands in quotes, as in JSON. */
  readonly quoted: boolean
  /** The character before the name. */
  readonly before: string | undefined
}

const schemes =
  /^(?:basic|bearer|token|apikey|api-key|key|negotiate|ntlm|dpop|digest|hawk|oauth|signature|aws4-hmac-sha256) +(?=\S)/i
/** Their credentials are a list that goes on to the end of the line. */
const listSchemes = /^(?:digest|hawk|oauth|signature|aws4-hmac-sha256)/i
const literal = /^(?:true|false|null|none|nil|undefined|nan)$/i
const number = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const longestHead = 64

const credentials = /^[=>]?[ \t]*(?:\\*["'`]|[^\s"'`&<>]*[0-9])/

/** Whether what follows a separator before `from` looks like credentials: a scheme, a quote, a word with a digit. */
export function isCredentials(text: string, from: number): boolean {
  const head = text.slice(from, from + longestHead)
  return credentials.test(head) || schemes.test(head.trimStart())
}

/** The value of an assignment whose separator stands before `from`; undefined where nothing secret is. */
export function readAssigned(text: string, from: number, around: Surroundings): Span | undefined {
  let start = from
  // `=>`, `:=` and `==` too.
  if (text[start] === '>' || text[start] === '=') start++
  while (isBlank(text.charCodeAt(start)) || (around.quoted && isLineBreak(text.charCodeAt(start)))) start++
  if (start >= text.length || isMarker(text, start)) return undefined

  let quote = start
  while (text[quote] === '\\') quote++
  const first = text[quote]
  if (first === '"' || first === "'" || first === '`') {
    return valueAt(text, quote + 1, endOfQuoted(text, quote + 1, first, quote - start))
  }
  if ((first === '{' || first === '[') && (around.broad || around.quoted)) {
    return valueAt(text, start, around.broad ? endOfLine(text, start) : endOfBrackets(text, start))
  }
  return plainValue(text, start, around)
}

function valueAt(text: string, start: number, end: number): Span | undefined {
  if (end <= start || (end <= start + marker.length && text.startsWith(marker, start))) return undefined
  return { start, end }
}

/** A marker without quotes, which is no array. */
function isMarker(text: string, start: number): boolean {
  return text.startsWith(marker, start) && !/\w/.test(text[start + marker.length] ?? '')
}

function plainValue(text: string, start: number, { quoted, before }: Surroundings): Span | undefined {
  const scheme = schemes.exec(text.slice(start, start + longestHead))?.[0]
  if (scheme !== undefined) {
    const from = start + scheme.length
    const stop = before === '"' || before === "'" ? before : undefined
    const end = listSchemes.test(scheme) ? endOfLine(text, from, stop) : endOfWord(text, from)
    return valueAt(text, from, end)
  }
  const end = quoted ? endOfBareJson(text, start) : endOfWord(text, start)
  // What goes on beyond the head is neither, and asking would read it again and again.
  const word = end - start > longestHead ? '' : text.slice(start, end)
  if (literal.test(word)) return undefined
  // In JSON a number is no secret; in `PASSWORD=1234` it is.
  if (quoted && number.test(word)) return undefined
  return valueAt(text, start, end)
}

/**
 * Index of the quote that ends what begins at `from`, where `escapes` backslashes stood before the opening quote:
 * 1 in JSON inside a JSON string, 3 one level deeper. The end of the text when there is none: it was cut off.
 */
function endOfQuoted(text: string, from: number, quote: string, escapes: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
    let run = at
    while (run > from && text[run - 1] === '\\') run--
    const backslashes = at - run
    if (backslashes < escapes) return run
    if (Math.floor((backslashes - escapes) / (escapes + 1)) % 2 === 0) return at - escapes
  }
  return text.length
}

/** Index after the bracket that closes the one at `start`; brackets in strings do not count. */
function endOfBrackets(text: string, start: number): number {
  let depth = 0
  let pos = start
  while (pos < text.length) {
    const code = text.charCodeAt(pos)
    if (code === 0x22) {
      let escapes = 0
      while (text[pos - 1 - escapes] === '\\' && pos - 1 - escapes > start) escapes++
      pos = endOfQuoted(text, pos + 1, '"', escapes) + escapes
    } else if (code === 0x7b || code === 0x5b) depth++
    else if ((code === 0x7d || code === 0x5d) && --depth === 0) return pos + 1
    pos++
  }
  return text.length
}

function endOfBareJson(text: string, from: number): number {
  let end = from
  while (end < text.length && !/[\s,}\]\\]/.test(text[end]!)) end++
  return end
}

/** Up to a blank, a quote or `&`; a comma, a semicolon or a bracket ends a word only where a blank follows. */
function endOfWord(text: string, from: number): number {
  let end = from
  while (end < text.length && !/[\s"'`&<>]/.test(text[end]!)) end++
  while (end > from && /[,;)\]}\\]/.test(text[end - 1]!)) end--
  return end
}

function endOfLine(text: string, from: number, stop?: string): number {
  const feed = text.indexOf('\n', from)
  const line = feed < 0 ? text.length : feed
  const quote = stop === undefined ? -1 : text.indexOf(stop, from)
  const end = quote >= 0 && quote < line ? quote : line
  return text[end - 1] === '\r' ? end - 1 : end
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function isLineBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d
}
