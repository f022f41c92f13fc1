/** Secrets that are known by the name before them: `"password": "x"`, `API_KEY=x`, `Authorization: Basic x`. */
import { isCredentials, readAssigned } from './assigned-value.js'
import type { Finding } from './finding.js'
import { NameCache, secretTermOf } from './secret-names.js'

const terms = new NameCache((name) => secretTermOf(name) ?? '')
const separator = /[:=]/g

/** No name is longer; what is longer is not read. */
const longestName = 128
const longestGap = 8

/** What stands before a separator. */
interface Name {
  /** Decoded. */
  readonly text: string
  readonly start: number
  readonly quoted: boolean
}

/**
 * Adds the values of assignments in `text`, which is decoded, to `found`. Linear. `broad` takes every `name=value`
 * and `name: value`, as in a log; otherwise only what is hardly code or prose: JSON inside the text, variables in
 * capitals, query parameters, headers.
 */
export function findAssignments(text: string, broad: boolean, found: Finding[]): void {
  let floor = 0
  separator.lastIndex = 0
  for (let match = separator.exec(text); match !== null; match = separator.exec(text)) {
    const at = match.index
    const name = readName(text, at, floor, broad)
    floor = at + 1
    if (name === undefined) continue
    const term = terms.get(name.text)
    if (term === '') continue
    const clarity = broad || name.quoted ? 'clear' : clarityOf(text, name, at, term)
    if (clarity === 'unclear' || (clarity === 'credentials' && !isCredentials(text, at + 1))) continue
    const value = readAssigned(text, at + 1, { broad, quoted: name.quoted, before: text[name.start - 1] })
    if (value === undefined) continue
    const { start, end } = value
    found.push({ start, end, rule: `key:${term}` })
    floor = end
    separator.lastIndex = end
  }
}

function readName(text: string, at: number, floor: number, broad: boolean): Name | undefined {
  let end = at
  const least = Math.max(floor, at - longestGap)
  while (end > least && isSpace(text.charCodeAt(end - 1))) end--
  if (end <= floor) return undefined
  const quote = text[end - 1]
  return quote === '"' || quote === "'" || quote === '`'
    ? quotedName(text, end - 1, floor, quote)
    : plainName(text, end, floor, broad)
}

function quotedName(text: string, close: number, floor: number, quote: string): Name | undefined {
  let end = close
  while (end > floor && text[end - 1] === '\\') end--
  const least = Math.max(floor, end - longestName)
  const open = text.lastIndexOf(quote, end - 1)
  if (open < least) return undefined
  return { text: unescapeName(text.slice(open + 1, end)), start: open, quoted: true }
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
  // In JSON inside a string, a line begins after `\n`.
  if (text[start - 1] === '\\' && /[nrt]/.test(text[start] ?? '')) start++
  if (start >= end) return undefined
  // `API key: x`: two words.
  if (broad && text[start - 1] === ' ' && end - start <= 4) {
    let before = start - 1
    while (before > least && isNameCode(text.charCodeAt(before - 1))) before--
    start = before
  }
  return { text: text.slice(start, end), start, quoted: false }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}

/** A letter, a digit, or one of `_ - . % [ ]`; everything beyond ASCII. */
function isNameCode(code: number): boolean {
  if ((code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a)) return true
  if (code === 0x5f || code === 0x2d || code === 0x2e || code === 0x25) return true
  return code === 0x5b || code === 0x5d || code >= 0x80
}

/**
 * Whether an assignment without quotes is certainly one, in a text that may be code or prose. `credentials`: when
 * the value looks like credentials.
 */
function clarityOf(text: string, name: Name, at: number, term: string): 'clear' | 'credentials' | 'unclear' {
  const adjacent = name.start + name.text.length === at
  const before = text[name.start - 1]
  if (text[at] === '=' && adjacent) {
    if (before === undefined || before === '?' || before === '&') return 'clear'
    if (/^[A-Z][A-Z0-9_]*$/.test(name.text)) return text[at + 1] === '=' ? 'unclear' : 'clear'
  }
  if (term.startsWith('authori')) return 'credentials'
  // A header: `X-Api-Key: …`.
  return text[at] === ':' && adjacent && /^[Xx]-|^[A-Z][a-z]*-[A-Z]/.test(name.text) ? 'clear' : 'unclear'
}
