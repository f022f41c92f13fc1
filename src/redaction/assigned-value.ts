import type { Span } from '../wire/index.js'
import { marker } from './marker.js'
import type { NextIndex } from './next-index.js'

interface Surroundings {
  readonly broad: boolean
  /** The name is in quotes, as in JSON. */
  readonly quoted: boolean
  /** The character before the name. */
  readonly before: string | undefined
  /** In a query, `&` ends a value. */
  readonly query: boolean
  /** The name is one of tokens, which may be counts. */
  readonly tokens: boolean
  readonly next: NextIndex
}

/** A value, and whether quotes enclose it. */
export interface Assigned extends Span {
  readonly quoted: boolean
}

const schemes =
  /^(?:basic|bearer|token|apikey|api-key|key|negotiate|ntlm|dpop|digest|hawk|oauth|signature|aws4-hmac-sha256)(?:[ \t]|%20|\\{1,8}t)+(?=\S)/i
/** The credentials of these schemes are a list up to the end of the line. */
const listSchemes = /^(?:digest|hawk|oauth|signature|aws4-hmac-sha256)/i
const literal = /^(?:true|false|null|none|nil|undefined|nan)$/i
const number = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const longestHead = 64
/** A quote written as an escape, in JSON inside a string. */
const escapedQuote = /(\\+)(u002[27])/y
const colour = /(?:\u001b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[0-9;]{0,16}m/y

const credentials = /^[=>]?[ \t]*(?:\\*["'`]|[^\s"'`&<>]*[0-9])/

/** Whether the text after a separator (before `from`) looks like credentials: scheme, quote, word with a digit. */
export function isCredentials(text: string, from: number): boolean {
  const head = text.slice(from, from + longestHead)
  return credentials.test(head) || schemes.test(head.trimStart())
}

/** The value of an assignment with its separator before `from`; undefined if it is not a secret. */
export function readAssigned(text: string, from: number, around: Surroundings): Assigned | undefined {
  const start = startOfValue(text, from, around.quoted)
  if (start >= text.length || isMarker(text, start)) return undefined
  const inQuotes = quotedValue(text, startOfWrapped(text, start))
  if (inQuotes !== undefined) return asAssigned(valueAt(text, inQuotes.start, inQuotes.end), true)
  const first = text[start]
  if ((first === '{' || first === '[') && (around.broad || around.quoted)) {
    if (isSchema(text, start) || isState(text, start)) return undefined
    if (around.tokens && isTokenTable(text.slice(start, start + 400))) return undefined
    const end = around.broad ? endOfLine(text, start, around.next) : endOfBrackets(text, start)
    return asAssigned(valueAt(text, start, end), true)
  }
  return asAssigned(plainValue(text, start, around), false)
}

function asAssigned(span: Span | undefined, quoted: boolean): Assigned | undefined {
  return span && { ...span, quoted }
}

/** Counts of tokens: only numbers up to the first closing bracket. */
const counts =
  /^\{\s{0,8}(?:\\{0,8}"[^"\\]{1,64}\\{0,8}"\s{0,8}:\s{0,8}(?:\{\s{0,8}|-?[\d.]{1,32}[\s,]{0,8}))+\}/

/** The first member of design tokens. */
const design =
  /^\{\s{0,8}\\{0,8}["']?(?:colou?rs?|palette|spac(?:e|ing)|fonts?|typography|radi(?:us|i)|sizes?|sizing|breakpoints?|shadows?|borders?|opacity|theme|light|dark)\\{0,8}["']?\s{0,8}:/i

/** Whether an object under a name of tokens holds counts of a model or values of a design. */
export function isTokenTable(head: string): boolean {
  return counts.test(head) || design.test(head)
}

/** A JSON Schema describes a value, but is not one. */
function isSchema(text: string, start: number): boolean {
  return /^\{\s*\\*["']?(?:type|\$ref|description|title|anyOf|oneOf|allOf|in)\\*["']?\s*:/.test(
    text.slice(start, start + 40),
  )
}

/** The state of an element in Playwright's output: `textbox "Password": [ref=e12]`. */
function isState(text: string, start: number): boolean {
  return /^\[(?:ref=|cursor=|level=|active|checked|disabled|expanded|pressed|selected|nonce)/.test(
    text.slice(start, start + 12),
  )
}

/** `Some("x")`, `b'x'`, `String::from("x")`, `[]byte("x")`: the inner quotes enclose the value. */
const wrapper =
  /(?:(?:Some|Ok|Just|String|str|bytes|bytearray|Secret\w{0,16}|Sensitive|Password|Option|Optional|Box|Arc|Rc|Cow|Buffer|aws|new|Secure\w{0,16}|quote|atob|b64decode|to_string)(?:::(?:new|from|Borrowed|Owned|some)|\.(?:of|from|String|new))?[ (]{1,2}|\[\]byte\(|&|@|\$|[bBuUrRfF]{1,2}(?=["'])|ConvertTo-SecureString (?:-String )?){1,4}(?=\\{0,8}["'`])/y

function startOfWrapped(text: string, start: number): number {
  return endOf(wrapper, text, start) ?? start
}

function startOfValue(text: string, from: number, quoted: boolean): number {
  let start = from
  // Also `=>`, `:=` and `==`.
  if (text[start] === '>' || text[start] === '=') start++
  for (;;) {
    while (isBlank(text.charCodeAt(start)) || (quoted && isLineBreak(text.charCodeAt(start)))) start++
    const after = endOf(colour, text, start)
    if (after === undefined) break
    start = after
  }
  return start
}

/** The text enclosed by the quotes at `start`; undefined if there are none. */
function quotedValue(text: string, start: number): Span | undefined {
  let quote = start
  while (text[quote] === '\\') quote++
  const first = text[quote]
  if (first === '"' || first === "'" || first === '`') {
    return { start: quote + 1, end: endOfQuoted(text, quote + 1, first, quote - start) }
  }
  const from = endOf(escapedQuote, text, start)
  if (from === undefined) return undefined
  return { start: from, end: endOfEscapedQuoted(text, from, text.slice(from - 5, from), quote - start) }
}

function endOf(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Undefined for an empty value and for a marker. */
export function valueAt(text: string, start: number, end: number): Span | undefined {
  if (end <= start || (end <= start + marker.length && text.startsWith(marker, start))) return undefined
  return { start, end }
}

/** A marker without quotes, which is not an array. */
function isMarker(text: string, start: number): boolean {
  return text.startsWith(marker, start) && !/\w/.test(text[start + marker.length] ?? '')
}

function plainValue(
  text: string,
  start: number,
  { quoted, query, before, next }: Surroundings,
): Span | undefined {
  const scheme = schemes.exec(text.slice(start, start + longestHead))?.[0]
  if (scheme !== undefined) {
    const from = start + scheme.length
    const stop = before === '"' || before === "'" ? before : undefined
    const inQuotes = text[from] === stop ? undefined : quotedValue(text, from)
    if (inQuotes !== undefined) return valueAt(text, inQuotes.start, inQuotes.end)
    const end = listSchemes.test(scheme)
      ? endOfLine(text, from, next, stop)
      : wordEnd(text, from, next, query, stop)
    return valueAt(text, from, end)
  }
  const quote = before === '"' || before === "'" || before === '`' ? before : undefined
  const end = quoted
    ? next.endOfRun('json', start, (from) => endOfBareJson(text, from))
    : wordEnd(text, start, next, query, quote)
  // A longer value is neither a literal nor a number; testing it would read it again and again.
  const word = end - start > longestHead ? '' : text.slice(start, end)
  if (literal.test(word)) return undefined
  // In JSON a number is not a secret; in `PASSWORD=1234` it is.
  if (quoted && number.test(word)) return undefined
  return valueAt(text, start, end)
}

/**
 * Index of the quote that closes the string at `from`, with `escapes` backslashes before the opening quote:
 * 1 in JSON inside a JSON string, 3 one level deeper. Without a closing quote, the end of the (truncated) text.
 */
export function endOfQuoted(text: string, from: number, quote: string, escapes: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
    let run = at
    while (run > from && text[run - 1] === '\\') run--
    const backslashes = at - run
    if (backslashes < escapes) return run
    if (Math.floor((backslashes - escapes) / (escapes + 1)) % 2 === 0) return at - escapes
  }
  return text.length
}

/** The same for quotes written `\u0022`, with at most `escapes` backslashes. */
function endOfEscapedQuoted(text: string, from: number, quote: string, escapes: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
    let run = at
    while (run > from && text[run - 1] === '\\') run--
    if (run < at && at - run <= escapes) return run
  }
  return text.length
}

/** Index after the bracket that closes the one at `start`; brackets in strings are ignored. */
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

/** The same characters escaped, as in JSON inside a string. */
const escapedStop = /^\\u00(?:1[bB]|2[267]|3[cCeE])/
const nextParameter = /^(?:&|%26)(?:amp;)?[\w.[\]%-]{1,64}=/
/** Characters that may follow a closing quote. */
const behindQuote = /^["'`](?:[\s,;:)\]}>\\]|$)/
/** Percent-encoded end of a parameter, in a URL that is itself a parameter. */
const encodedStop = /^%(?:26|23|20|22|0[aAdD])/

/**
 * Up to white space, or to the closing quote of the string with the name (`stop`); in a query also to `&` or a
 * quote. A comma, a semicolon or a bracket ends a word only before white space.
 */
export function endOfWord(text: string, from: number, query = false, stop?: string): number {
  let end = from
  while (end < text.length && !/[\s\u001b]/.test(text[end]!)) {
    const character = text[end]!
    if (query && /["'`&<>]/.test(character)) break
    if (character === stop) break
    if (/["'`]/.test(character) && behindQuote.test(text.slice(end, end + 2))) break
    if (character === '&' && nextParameter.test(text.slice(end, end + 80))) break
    if (character === '<' && /[/a-z!]/.test(text[end + 1] ?? '') && text[end + 1] === '/') break
    if (character === '%' && query && encodedStop.test(text.slice(end, end + 3))) break
    if (character === '\\' && escapedStop.test(text.slice(end, end + 6))) break
    end++
  }
  while (end > from && /[,;)\]}\\]/.test(text[end - 1]!)) end--
  return end
}

/** Like `endOfWord`, but each run is read only once. */
export function wordEnd(text: string, from: number, next: NextIndex, query = false, stop?: string): number {
  return next.endOfRun(`${query}${stop ?? ''}`, from, (from) => endOfWord(text, from, query, stop))
}

function endOfLine(text: string, from: number, next: NextIndex, stop?: string): number {
  const line = next.of('\n', from)
  const end = stop === undefined ? line : Math.min(line, next.of(stop, from))
  return text[end - 1] === '\r' ? end - 1 : end
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function isLineBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d
}
