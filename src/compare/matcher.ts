import { compilePattern, QueryFault } from '../json-path/index.js'
import { canonicalNumber, decodeString, elementsOf, kindAt } from '../wire/index.js'
import { canonicalJson } from './canonical-json.js'

/** Differences allowed between two values at one place. */
export interface Matcher {
  /** As written by the user. */
  readonly text: string
  /** @param before exact JSON text of a value, as is `after` */
  accepts(before: string, after: string): boolean
  /** Equal for values that are likely to match each other. */
  standIn(value: string): string
  /** For matchers within texts: the decoded text with marks in place of its matches. */
  readonly inText?: (text: string) => string
}

/** The names of matchers, with descriptions. */
const matcherNames: readonly (readonly [name: string, meaning: string])[] = [
  ['any', 'any two values'],
  ['type', 'two values of the same type'],
  [
    'timestamp',
    'times: ISO 8601, RFC 9110, localized dates, times of day, epoch numbers; alone or inside a text',
  ],
  ['uuid', 'UUIDs, alone or inside a text'],
  [
    'duration',
    'durations: 12ms, 1.5 s, PT2S, 00:01:02; alone or inside a text; or any number that is not negative',
  ],
  ['cursor', 'two non-empty strings'],
  ['number', 'numbers, alone or inside a text'],
  ['number~0.5', 'numbers that differ by at most 0.5'],
  ['number~5%', 'numbers that differ by at most 5 % of the recorded one'],
  ['unordered', 'arrays with the same elements in any order'],
  ['/pattern/', 'two values whose text matches an RE2 pattern'],
]

const timestamps =
  /\d{4}-\d\d-\d\d[T_ ]\d\d-\d\d-\d\d(?:[-.]\d{3,9})?Z?|\d{1,2}([/.])\d{1,2}\1\d{4}(?:,? \d{1,2}:\d\d(?::\d\d)?(?:[ \u202f]?[AP]M\b)?)?|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d(?: (?:GMT|UTC|[+-]\d{4}))?|\b\d{1,2}:\d\d:\d\d\b(?:[ \u202f][AP]M\b)?/g
const uuids = /[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/gi
const durations =
  /\bPT?(?:\d+(?:\.\d+)?[YMWDHS])+|\b\d+:\d\d(?::\d\d(?:\.\d+)?)?\b|\b\d+(?:\.\d+)? ?(?:ns|[µu]s|ms|s|sec(?:ond)?s?|m|min(?:ute)?s?|h|hours?|d|days?)\b/g
const numbers = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** @throws QueryFault */
export function parseMatcher(text: string): Matcher {
  const named = byName.get(text)
  if (named) return { text, ...named }
  if (/^\w+(?:\+\w+)+$/.test(text)) return combineMatchers(text.split('+').map(parseMatcher))
  if (text.startsWith('number~')) return { text, ...near(text.slice('number~'.length)) }
  if (text.length > 1 && text.startsWith('/') && text.endsWith('/'))
    return { text, ...pattern(text.slice(1, -1)) }
  const known = matcherNames.map(([name]) => name).join(', ')
  throw new QueryFault(`has an unknown matcher: ${text}`, `known matchers: ${known}`)
}

/** Matches what any of them matches; matchers within texts can each match their own parts of one text. */
export function combineMatchers(matchers: readonly Matcher[]): Matcher {
  const [only] = matchers
  if (only && matchers.length === 1) return only
  const parts = matchers.flatMap(({ inText }) => inText ?? [])
  const standIn = (value: string): string =>
    kindAt(value, 0) === 'string'
      ? parts.reduce((text, part) => part(text), decodeString(value, 0, value.length))
      : (matchers[0]?.standIn(value) ?? value)
  return {
    text: matchers.map(({ text }) => text).join('+'),
    standIn,
    accepts: (before, after) =>
      matchers.some((matcher) => matcher.accepts(before, after)) ||
      (parts.length > 1 &&
        [before, after].every((one) => one.startsWith('"')) &&
        standIn(before) === standIn(after)),
  }
}

type Behaviour = Omit<Matcher, 'text'>

const always: Behaviour = { accepts: () => true, standIn: () => '‹any›' }

const sameKind: Behaviour = {
  accepts: (before, after) => kindAt(before, 0) === kindAt(after, 0),
  standIn: (value) => `‹${kindAt(value, 0)}›`,
}

const cursor: Behaviour = bySimplifying((value) => (/^"./.test(value) && value !== '""' ? '‹cursor›' : value))

const byName: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ['any', always],
  ['type', sameKind],
  ['cursor', cursor],
  ['timestamp', inTexts(timestamps, '‹timestamp›', isEpoch)],
  ['uuid', inTexts(uuids, '‹uuid›', () => false)],
  ['duration', inTexts(durations, '‹duration›', (number) => !number.startsWith('-'))],
  ['number', inTexts(numbers, '‹number›', () => true)],
  ['unordered', bySimplifying(sorted)],
])

function bySimplifying(simplify: (value: string) => string): Behaviour {
  return { accepts: (before, after) => simplify(before) === simplify(after), standIn: simplify }
}

/** Treats text that fits the pattern as equal; the rest must be identical. */
function inTexts(find: RegExp, mark: string, isOne: (number: string) => boolean): Behaviour {
  const inText = (text: string): string => text.replace(find, mark)
  const simplified = bySimplifying((value) => {
    const kind = kindAt(value, 0)
    if (kind === 'number') return isOne(value) ? mark : canonicalNumber(value)
    if (kind !== 'string') return canonicalJson(value, 0)
    return inText(decodeString(value, 0, value.length))
  })
  return { ...simplified, inText }
}

/** Epoch numbers from seconds to nanoseconds, for the years 2001 to 2286. */
function isEpoch(number: string): boolean {
  return /^(?:\d{10}|\d{13}|\d{16}|\d{19})(?:\.\d+)?$/.test(number)
}

function sorted(value: string): string {
  if (kindAt(value, 0) !== 'array') return canonicalJson(value, 0)
  const elements = elementsOf(value, 0).map(({ start }) => canonicalJson(value, start))
  return `[${elements.toSorted().join(',')}]`
}

function near(amount: string): Behaviour {
  const given = /^(\d+(?:\.\d+)?(?:e[+-]?\d+)?)(%?)$/i.exec(amount)
  if (!given)
    throw new QueryFault(`has an invalid tolerance: number~${amount}`, 'use number~0.5 or number~5%')
  const limit = Number(given[1])
  const apart = (before: number, after: number): boolean =>
    Math.abs(after - before) <= (given[2] === '%' ? (Math.abs(before) * limit) / 100 : limit)
  const { standIn } = byName.get('number')!
  return {
    standIn,
    accepts(before, after) {
      if (standIn(before) !== standIn(after)) return false
      const values = [before, after].map((text) => (text.match(numbers) ?? []).map(Number))
      return (
        values[0]!.length === values[1]!.length &&
        values[0]!.every((value, i) => apart(value, values[1]![i]!))
      )
    },
  }
}

function pattern(source: string): Behaviour {
  const compiled = compilePattern(source, false)
  const fits = (value: string): boolean =>
    compiled.test(kindAt(value, 0) === 'string' ? decodeString(value, 0, value.length) : value)
  return {
    accepts: (before, after) => fits(before) && fits(after),
    standIn: (value) => (fits(value) ? '‹match›' : value),
  }
}

/** Matchers that need a second value, and say nothing about a single one. */
const comparesTwo = /^(?:type|unordered|number~.*)$/

/** Whether a matcher applies to a single value, without a second one. */
export function standsAlone(matcher: Matcher): boolean {
  return partsOf(matcher).every((part) => !comparesTwo.test(part.text))
}

/** Whether a single value has the matcher's form: as a whole, or inside a text. */
export function matchesAlone(matcher: Matcher, value: string): boolean {
  return partsOf(matcher).every((part) => {
    if (part.text === 'any') return true
    if (part.text.startsWith('/')) return part.accepts(value, value)
    if (part.text === 'cursor') return value.startsWith('"') && value !== '""'
    // The stand-in marks every match.
    return part.standIn(value) !== plainOf(value)
  })
}

function partsOf(matcher: Matcher): readonly Matcher[] {
  const { text } = matcher
  return text.startsWith('/') || !text.includes('+') ? [matcher] : text.split('+').map(parseMatcher)
}

function plainOf(value: string): string {
  const kind = kindAt(value, 0)
  if (kind === 'string') return decodeString(value, 0, value.length)
  return kind === 'number' ? canonicalNumber(value) : canonicalJson(value, 0)
}

/**
 * Suggests a matcher for two values that clearly differ on every run. Excludes plain numbers: a number may be a
 * price.
 */
export function suggestMatcher(before: string, after: string): string | undefined {
  const names = before.startsWith('"')
    ? (['uuid', 'timestamp', 'duration'] as const)
    : (['timestamp'] as const)
  return names.find((name) => byName.get(name)!.accepts(before, after))
}
