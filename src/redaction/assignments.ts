/** Secrets identified by the name before them: `"password": "x"`, `API_KEY=x`, `Authorization: Basic x`. */
import { isCredentials, readAssigned, type Assigned } from './assigned-value.js'
import type { Finding } from './finding.js'
import { NextIndex } from './next-index.js'
import {
  goesOnAsProse,
  isLiteralSecret,
  isPlaceholder,
  isStatus,
  looksLikeCode,
  looksLikeCredentials,
  looksMade,
} from './secret-looks.js'
import { judgeName, nameCache, type NameVerdict } from './secret-names.js'

/** In plain text, MCP's progress token has a name chosen by the logger. */
const verdicts = nameCache<NameVerdict | undefined>((name) =>
  /progress[_-]?token$/i.test(name) ? undefined : judgeName(name),
)
/** The private halves of keys in JSON (RFC 7517). */
const jwkMember = /^(?:[dpqk]|d[pq]|qi)$/
const jwk: NameVerdict = { term: 'jwk', needs: 'credentials' }
/** Parameters that sign a URL. */
const parameters = nameCache<NameVerdict | undefined>((name) =>
  /^[?&#;]?(?:(?:x-(?:amz|goog)-)?signature|sig|key|hmac)$/i.test(name)
    ? { term: 'signature', needs: 'credentials' }
    : undefined,
)
/** `%3D` and `%3A` occur in a URL that is itself a parameter. */
const separator = /[:=%]/g

/** Names are never longer; longer ones are not read. */
const longestName = 128
/** Configuration files align their colons. */
const longestGap = 64
const colourAtEnd = /(?:\u001b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[0-9;]{0,16}m$/
const colourAtStart = /^(?:\[[0-9]{0,3}|[0-9]{1,3})m(?=.)/
const escapedQuoteAtEnd = /\\u(002[27])$/

/** The name before a separator. */
interface Name {
  /** Decoded. */
  readonly text: string
  readonly start: number
  readonly quoted: boolean
  /** The character before it, decoded. */
  readonly before: string | undefined
}

/**
 * Adds the values of assignments in `text`, which is decoded, to `found`. Linear. `broad` takes every `name=value`
 * and `name: value`, as in a log; otherwise only forms that are hardly code or prose: JSON inside the text, variables
 * in capitals, query parameters, headers.
 */
export function findAssignments(text: string, until: number, broad: boolean, found: Finding[]): void {
  let floor = 0
  const next = new NextIndex(text)
  let isJwk: boolean | undefined
  separator.lastIndex = 0
  for (let match = separator.exec(text); match !== null; match = separator.exec(text)) {
    const at = match.index
    if (at >= until) return
    const isEncoded = text[at] === '%'
    if (isEncoded && !/^3[ADad]/.test(text.slice(at + 1, at + 3))) continue
    const after = isEncoded ? at + 3 : at + 1
    const name = readName(text, at, floor, broad)
    floor = after
    if (name === undefined) continue
    const query = isEncoded || /^[?&#;]/.test(name.before ?? '')
    const verdict =
      verdicts.get(name.text) ??
      (query && text[after - 1] !== ':' ? parameters.get(name.text) : undefined) ??
      (name.quoted && jwkMember.test(name.text) && (isJwk ??= text.includes('"kty')) ? jwk : undefined)
    if (verdict === undefined) continue
    const clarity = broad || name.quoted || query ? 'clear' : clarityOf(text, name, at, verdict.term)
    if (clarity === 'credentials' && !isCredentials(text, after)) continue
    const from = behindType(text, after) ?? after
    const { quoted, before } = name
    const tokens = verdict.term === 'token'
    const value = readAssigned(text, from, { broad, quoted, query, tokens, before, next })
    if (value === undefined || !isSecret(text, name, value, verdict, clarity, broad)) continue
    const { start, end } = value
    found.push({ start, end, rule: `key:${verdict.term}` })
    floor = end
    separator.lastIndex = end
  }
}

/** `password: str = "x"`: the index after the equals sign. */
function behindType(text: string, after: number): number | undefined {
  if (text[after - 1] !== ':') return undefined
  const type = /^\s{1,8}&?'?[A-Za-z][\w<>&'[\],.|?]{0,40}\s{0,8}=\s{0,8}(?=[\w&@[]{0,24}[("'`])/.exec(
    text.slice(after, after + 80),
  )
  return type === null ? undefined : after + type[0].length
}

const passwords = /^pass|^pwd$|^secret$/
/** Number of characters of a value that are examined. */
const longestHead = 1024

function isSecret(
  text: string,
  name: Name,
  { start, end, quoted }: Assigned,
  { term, needs }: NameVerdict,
  clarity: 'clear' | 'credentials' | 'unclear',
  broad: boolean,
): boolean {
  const value = text.slice(start, Math.min(end, start + longestHead))
  if (
    isPlaceholder(value.replace(/^(?:bearer|basic|token) /i, '')) ||
    /^<[^<>\n]{1,80}>/.test(text.slice(start, start + 90))
  )
    return false
  // The working directory of a shell.
  if (term === 'pwd' && /^(?:[~.]{0,2}\/|[A-Za-z]:[\\/])/.test(value)) return false
  if (needs === 'made') return looksMade(value)
  const isPassword = passwords.test(term)
  if (needs === 'credentials')
    return looksLikeCredentials(value, isPassword) && (isPassword || value.length >= 8)
  if (clarity === 'credentials') return true
  if (clarity === 'clear') {
    if (name.quoted && !quoted && !broad) return looksLikeCredentials(value, isPassword)
    if (quoted || name.quoted) return !(/^accesskey$/i.test(name.text) && value.length < 2)
    if (isCodeOrProse(text, name, start, end)) return false
    if (/^tokens?$/i.test(term) && /^[0-9]{1,7}[,.;)]?$/.test(value))
      return /[=]/.test(text[start - 1] ?? '') && !/tokens$/i.test(name.text)
    if (
      /^(?:unexpected|illegal|expected|invalid|unknown|next)\s$/i.test(
        text.slice(Math.max(0, name.start - 11), name.start).replace(/^.*?(\w+\s)$/s, '$1'),
      )
    )
      return looksLikeCredentials(value, false) && value.length >= 12
    return !isStatus(value) && !(/s$/i.test(name.text) && /^[0-9]{1,4}[,.;)]?$/.test(value))
  }
  if (quoted) return isLiteralSecret(value, isPassword)
  if (/^[([]|^ ?[({]/.test(text.slice(end, end + 2)) && /\w$/.test(value)) return false
  if (/^ey[JK]/.test(value)) return true
  return looksLikeCredentials(value, isPassword) || isLoneWord(text, name, start, end, isPassword)
}

/** Like the check of bare values in strings of messages, but less strict: excludes only certain non-secrets. */
function isCodeOrProse(text: string, name: Name, start: number, end: number): boolean {
  const value = text.slice(start, Math.min(end, start + 128))
  const gap = /([:=])[=>]{0,2}(\s{0,8})$/.exec(text.slice(Math.max(0, start - 12), start))
  const [whole = '', separator = '', blank = ''] = gap ?? []
  if (/^=+$/.test(value) || /^(?:none|null|nil|undefined|true|false)\W{0,3}$/i.test(value)) return true
  if (whole.startsWith('==') && /^[A-Za-z_.:]+$/.test(value)) return true
  if (looksLikeCode(value, name.text, separator)) return true
  if (separator !== ':' || blank === '') return false
  const before = text.slice(Math.max(0, name.start - 24), name.start)
  return goesOnAsProse(value, before, text.slice(end, end + 64))
}

/** A configuration line whose password consists of letters: `password: letmein`. */
function isLoneWord(text: string, name: Name, start: number, end: number, isPassword: boolean): boolean {
  if (!isPassword || !/^(?:\r?\n|$)/.test(text.slice(end, end + 2))) return false
  const before = text.slice(Math.max(0, name.start - 40), name.start)
  return (
    /(?:^|\n)[ \t-]*$/.test(before) && isLiteralSecret(text.slice(start, Math.min(end, start + 64)), true)
  )
}

function readName(text: string, at: number, floor: number, broad: boolean): Name | undefined {
  let end = at
  const least = Math.max(floor, at - longestGap)
  for (;;) {
    while (end > least && isSpace(text.charCodeAt(end - 1))) end--
    if (text[end - 1] !== 'm') break
    const colour = colourAtEnd.exec(text.slice(Math.max(least, end - 32), end))?.[0]
    if (colour === undefined) break
    end -= colour.length
  }
  if (end <= floor) return undefined
  const quote = text[end - 1]
  if (quote === '"' || quote === "'" || quote === '`') return quotedName(text, end - 1, floor, quote)
  const escaped = escapedQuoteAtEnd.exec(text.slice(Math.max(floor, end - 6), end))?.[1]
  if (escaped !== undefined) return quotedName(text, end - 5, floor, `u${escaped}`)
  return plainName(text, end, floor, broad)
}

function quotedName(text: string, close: number, floor: number, quote: string): Name | undefined {
  let end = close
  while (end > floor && text[end - 1] === '\\') end--
  const least = Math.max(floor, end - longestName)
  const written = text.slice(least, end)
  const open = written.lastIndexOf(quote)
  if (open < 0) return undefined
  const start = least + open
  const name = unescapeName(written.slice(open + quote.length))
  return { text: name, start, quoted: true, before: text[start - 1] }
}

/** `\u0070` in JSON, `\\u0070` in JSON inside JSON. */
function unescapeName(name: string): string {
  if (!name.includes('\\')) return name
  return name.replace(/\\+u([0-9a-fA-F]{4})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}

function plainName(text: string, end: number, floor: number, broad: boolean): Name | undefined {
  const least = Math.max(floor, end - longestName)
  let start = end
  while (start > least && isNameCode(text.charCodeAt(start - 1))) start--
  // In JSON inside a string, a line begins after `\n`, and a parameter after `\u0026`.
  let before: string | undefined
  if (text[start - 1] === '\\') {
    const code = /^u00([0-9A-Fa-f]{2})/.exec(text.slice(start, start + 5))?.[1]
    if (code !== undefined) before = String.fromCharCode(Number.parseInt(code, 16))
    if (code !== undefined) start += 5
    else if (/[nrt]/.test(text[start] ?? '')) start++
  }
  if (text[start] === '[' || /[[;]/.test(text[start - 1] ?? '')) {
    start += colourAtStart.exec(text.slice(start, Math.min(end, start + 6)))?.[0].length ?? 0
  }
  if (start >= end) return undefined
  // Go: `var password string = "x"`.
  if (text[start - 1] === ' ' && /^(?:string|str|bytes)$/.test(text.slice(start, end))) {
    end = start - 1
    start = end
    while (start > least && isNameCode(text.charCodeAt(start - 1))) start--
    if (start >= end) return undefined
  }
  // `API key: x`: two words.
  if (broad && text[start - 1] === ' ' && end - start <= 4) {
    let before = start - 1
    while (before > least && isNameCode(text.charCodeAt(before - 1))) before--
    start = before
  }
  const name = unescapeParameter(text.slice(start, end))
  return { text: name, start, quoted: false, before: /^[&?#;]/.exec(name)?.[0] ?? before ?? text[start - 1] }
}

/** `token%5B%5D`, and `%26token` after a parameter. */
function unescapeParameter(name: string): string {
  if (!name.includes('%')) return name
  const plain = name.replace(/%([2-7][0-9A-Fa-f])/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  const joint = Math.max(...['&', '?', '#', ';'].map((character) => plain.lastIndexOf(character)))
  return joint < 0 ? plain : plain.slice(joint)
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}

/** A letter, a digit, one of `_ - . % [ ]`, or any character beyond ASCII. */
function isNameCode(code: number): boolean {
  if ((code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)) return true
  if (code === 0x5f || code === 0x2d || code === 0x2e || code === 0x25) return true
  return code === 0x5b || code === 0x5d || code >= 0x80
}

/**
 * Whether an assignment without quotes is certainly one, in a text that may be code or prose. `credentials`: only if
 * the value looks like credentials.
 */
function clarityOf(text: string, name: Name, at: number, term: string): 'clear' | 'credentials' | 'unclear' {
  const adjacent = !isSpace(text.charCodeAt(at - 1))
  if (text[at] === '=' && adjacent) {
    const isComparison = text[at + 1] === '='
    if (name.before === undefined || /[?&#;]/.test(name.before)) return isComparison ? 'unclear' : 'clear'
    if (/^[A-Z][A-Z0-9_]*$/.test(name.text)) return isComparison ? 'unclear' : 'clear'
  }
  if (term.startsWith('authori')) return 'credentials'
  // A header: `X-Api-Key: …`.
  return text[at] === ':' && adjacent && /^[Xx]-|^[A-Z][a-z]*-[A-Z]/.test(name.text) ? 'clear' : 'unclear'
}
