import { toPointer } from '../compare/index.js'
import { redactionMarker } from '../redaction/index.js'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** A value that a response must have. */
export type Expected =
  | { readonly kind: 'value'; readonly value: null | boolean | number | string }
  | { readonly kind: 'list'; readonly items: readonly Expected[] }
  | { readonly kind: 'map'; readonly members: readonly (readonly [name: string, item: Expected])[] }
  /** A string that matches; the pattern is valid in JavaScript and in Python. */
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'any'; readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object' | 'null' }

/** Parts of texts that vary per run, and a pattern for each. The patterns have no groups. */
const varying: readonly (readonly [find: RegExp, pattern: string])[] = [
  [
    /\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d(?:[:-]\d\d(?:[.,-]\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?/,
    String.raw`\d{4}-\d\d-\d\d[T ][\dTZUC:.,+ -]+`,
  ],
  [
    /(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [A-Z][a-z]{2} \d{1,2} \d{4} \d\d:\d\d:\d\d[^\n"]{0,40}/,
    String.raw`\w{3},? \w{3} \d+ \d{4} [^\n"]+`,
  ],
  [/\b\d{1,2}:\d\d:\d\d\b(?:[ \u202f][AP]M\b)?/, String.raw`[\d:]+(?:\s[AP]M)?`],
  [/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i, '[0-9a-fA-F-]{36}'],
  [/\b[0-9a-f]{32,64}\b/i, '[0-9a-fA-F]{32,64}'],
  [/\b\d+(?:\.\d+)? ?(?:ns|[µu]s|ms)\b/, String.raw`[\d.]+ ?\w+`],
  [/\b1[6-9]\d{8}(?:\d{3}){0,3}\b/, String.raw`\d+`],
  [/\/(?:private\/)?(?:tmp|var\/folders)\/[\w./-]+/, String.raw`/[\w./-]+`],
]
const anyVarying = new RegExp(varying.map(([find]) => `(?:${find.source})`).join('|'), 'gi')

/** Longer texts are checked by their beginning. */
const longestText = 600
const shownOfLong = 160

/**
 * @param at JSON Pointer to the value in the response
 * @param places pointers from the rules: values there vary
 * @param isTold whether the client sent a text itself, so that it cannot vary
 */
export function expectedOf(
  value: Json,
  at: string,
  places: ReadonlyMap<string, unknown>,
  isTold: (text: string) => boolean,
): Expected {
  if (places.has(at)) return { kind: 'any', type: typeOf(value) }
  if (typeof value === 'string') return expectedText(value, isTold)
  if (typeof value === 'number')
    return isEpoch(value) ? { kind: 'any', type: 'number' } : { kind: 'value', value }
  if (Array.isArray(value))
    return { kind: 'list', items: value.map((item, i) => expectedOf(item, `${at}/${i}`, places, isTold)) }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([name, item]) => {
      return [name, expectedOf(item, at + toPointer([name]), places, isTold)] as const
    })
    return { kind: 'map', members }
  }
  return { kind: 'value', value }
}

function expectedText(text: string, isTold: (text: string) => boolean): Expected {
  if (text.includes(redactionMarker)) return { kind: 'any', type: 'string' }
  const isLong = text.length > longestText
  const shown = isLong ? text.slice(0, shownOfLong) : text
  const pieces: string[] = []
  let end = 0
  for (const match of shown.matchAll(anyVarying)) {
    const [found] = match
    if (isTold(found)) continue
    const pattern = varying.find(([find]) => new RegExp(`^(?:${find.source})$`, 'i').test(found))?.[1]
    if (pattern === undefined) continue
    pieces.push(escapePattern(shown.slice(end, match.index)), pattern)
    end = match.index + found.length
  }
  if (pieces.length === 0 && !isLong) return { kind: 'value', value: text }
  pieces.push(escapePattern(shown.slice(end)))
  return { kind: 'pattern', source: `^${pieces.join('')}${isLong ? '' : '$'}` }
}

/** Escapes a text as a pattern for both languages. */
export function escapePattern(text: string): string {
  return text
    .replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
    .replaceAll('\n', String.raw`\n`)
    .replaceAll('\r', String.raw`\r`)
    .replaceAll('\t', String.raw`\t`)
    .replaceAll(
      /[\u{0}-\u{1f}\u{7f}-\u{9f}\u2028\u2029]/gu,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
}

const longestMessage = 80

/** The first line of an error message, as a pattern for both languages. */
export function messagePattern(message: string): string {
  return escapePattern(message.slice(0, longestMessage).replace(/\s*\n[^]*/, ''))
}

function isEpoch(value: number): boolean {
  return Number.isFinite(value) && /^1[6-9]\d{8}(?:\d{3}){0,3}(?:\.\d+)?$/.test(String(value))
}

function typeOf(value: Json): 'string' | 'number' | 'boolean' | 'array' | 'object' | 'null' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as 'string' | 'number' | 'boolean' | 'object'
}

/** The parsed value of a result whose only content is one text of JSON. */
export function jsonText(result: Record<string, Json>): Json | undefined {
  const content = result['content']
  if (!Array.isArray(content) || content.length !== 1) return undefined
  const text = (content[0] as { text?: unknown } | null)?.text
  if (typeof text !== 'string' || !/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}
