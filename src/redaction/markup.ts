/** Secrets in fields of forms, elements and settings, with the name in one attribute and the value in another. */
import type { Finding } from './finding.js'
import { isLiteralSecret, isPlaceholder } from './secret-looks.js'
import { judgeName, oauthTerm } from './secret-names.js'

/** Tags are read up to this length. */
const longestTag = 2048
const attribute = /([A-Za-z_:][\w:.-]{0,63})\s{0,8}=\s{0,8}(?:\\?"([^"]{0,2000})"|'([^']{0,2000})')/g
const element = /^<([A-Za-z][\w:.-]{0,63})(?:\s[^<>]{0,256})?>([^<>]{1,2000})<\//
const naming = new Set(['name', 'key', 'id', 'property'])

/** Adds the values of `<input name="password" value="…">`, `<add key="ApiKey" value="…"/>` and `<password>…</password>`. */
export function findInMarkup(text: string, until: number, found: Finding[]): void {
  for (let at = text.indexOf('<'); at >= 0 && at < until; at = text.indexOf('<', at + 1)) {
    const next = text.charCodeAt(at + 1) | 0x20
    if (next < 0x61 || next > 0x7a) continue
    const close = text.indexOf('>', at)
    const tag = text.slice(at, Math.min(close < 0 ? text.length : close, at + longestTag))
    const inTag = fieldValue(tag)
    if (inTag !== undefined) found.push({ start: at + inTag.start, end: at + inTag.end, rule: inTag.rule })
    if (close < 0 || close - at > longestTag) {
      at += tag.length - 1
      continue
    }
    const term = termOf(/^<([A-Za-z][\w:.-]{0,63})/.exec(tag)?.[1] ?? '')
    if (term !== undefined) {
      const value = element.exec(text.slice(at, close + 2100))?.[2]
      if (value !== undefined && !isPlaceholder(value.trim()))
        found.push({ start: close + 1, end: close + 1 + value.length, rule: `key:${term}` })
    }
    at = close
  }
}

function fieldValue(tag: string): Finding | undefined {
  if (!/value/i.test(tag)) return undefined
  let term: string | undefined
  let value: { start: number; end: number } | undefined
  attribute.lastIndex = 0
  for (let match = attribute.exec(tag); match !== null; match = attribute.exec(tag)) {
    const [whole, name = '', double, single] = match
    const written = double ?? single ?? ''
    const lower = name.toLowerCase()
    if (lower === 'value' && written !== '') {
      const end = match.index + whole.length - 1
      value = { start: end - written.length, end }
    } else if (lower === 'type' && written.toLowerCase() === 'password') term ??= 'password'
    else if (naming.has(lower)) term ??= termOf(written) ?? oauthTerm(written)
  }
  if (term === undefined || value === undefined) return undefined
  return isPlaceholder(tag.slice(value.start, value.end)) ? undefined : { ...value, rule: `key:${term}` }
}

function termOf(name: string): string | undefined {
  const verdict = judgeName(name)
  return verdict?.needs === 'any' ? verdict.term : undefined
}

const call = /\(\s{0,8}\\?["']([\w.-]{1,128})\\?["']\s{0,8},\s{0,8}\\?["']([^"'\\]{1,512})/y
const setter = /(?:define|env|set|item|put|add|append|header|var|variable)$/i

/** Adds the second argument of calls such as `define('DB_PASSWORD', 'x')`. */
export function findInCalls(text: string, until: number, found: Finding[]): void {
  for (let at = text.indexOf('('); at >= 0 && at < until; at = text.indexOf('(', at + 1)) {
    if (!/["'\\\s]/.test(text.charAt(at + 1))) continue
    call.lastIndex = at
    const [, name = '', value = ''] = call.exec(text) ?? []
    if (name === '' || !setter.test(text.slice(Math.max(0, at - 24), at))) continue
    call.lastIndex = at
    call.test(text)
    const term = termOf(name)
    if (term === undefined || !isLiteralSecret(value, true)) continue
    found.push({ start: call.lastIndex - value.length, end: call.lastIndex, rule: `key:${term}` })
  }
}

const part = /name="([^"\r\n]{1,128})"[^\r\n]{0,200}\r?\n(?:[A-Za-z-]{1,40}:[^\r\n]{0,200}\r?\n){0,8}\r?\n/g

/** Adds the fields of `multipart/form-data` with secret names. */
export function findInMultipart(text: string, found: Finding[]): void {
  // The hyphen is rarer than the letter before it.
  if (!text.includes('-data; name=')) return
  part.lastIndex = 0
  for (let match = part.exec(text); match !== null; match = part.exec(text)) {
    const term = termOf(match[1] ?? '') ?? oauthTerm(match[1] ?? '')
    if (term === undefined) continue
    const start = part.lastIndex
    const border = text.indexOf('\n--', start)
    const end = border < 0 ? text.length : text[border - 1] === '\r' ? border - 1 : border
    if (end > start) found.push({ start, end, rule: `key:${term}` })
    part.lastIndex = Math.max(start, end)
  }
}
