/** Secrets that are known by the name before them: `"password": "x"`, `API_KEY=x`, `Authorization: Basic x`. */
import { isCredentials, readAssigned } from './assigned-value.js'
import type { Finding } from './finding.js'
import { NextIndex } from './next-index.js'
import { NameCache, secretTermOf } from './secret-names.js'

/** In a text MCP's handle for progress is named by whoever logs it. */
const terms = new NameCache((name) => (/progress[_-]?token$/i.test(name) ? '' : (secretTermOf(name) ?? '')))
const separator = /[:=]/g

/** No name is longer; what is longer is not read. */
const longestName = 128
/** Files of settings align their colons. */
const longestGap = 64
const colourAtEnd = /(?:\u001b|\\{1,8}(?:u001[bB]|x1[bB]|033|e))\[[0-9;]{0,16}m$/
const colourAtStart = /^(?:\[[0-9]{0,3}|[0-9]{1,3})m(?=.)/
const escapedQuoteAtEnd = /\\u(002[27])$/

/** What stands before a separator. */
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
 * and `name: value`, as in a log; otherwise only what is hardly code or prose: JSON inside the text, variables in
 * capitals, query parameters, headers.
 */
export function findAssignments(text: string, broad: boolean, found: Finding[]): void {
  let floor = 0
  const next = new NextIndex(text)
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
    const value = readAssigned(text, at + 1, { broad, quoted: name.quoted, before: name.before, next })
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
  // In JSON inside a string, a line begins after `\n`, a parameter after `\u0026`.
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
  // `API key: x`: two words.
  if (broad && text[start - 1] === ' ' && end - start <= 4) {
    let before = start - 1
    while (before > least && isNameCode(text.charCodeAt(before - 1))) before--
    start = before
  }
  const name = unescapeParameter(text.slice(start, end))
  return { text: name, start, quoted: false, before: /^[&?#;]/.exec(name)?.[0] ?? before ?? text[start - 1] }
}

/** `token%5B%5D`, and `%26token` behind a parameter. */
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
