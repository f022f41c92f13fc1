import { BudgetSpent } from '../json-path/index.js'
import {
  decodeString,
  elementsOf,
  findJsonValue,
  isFault,
  kindAt,
  pointerSteps,
  skipValue,
  valueAt,
  type Span,
} from '../wire/index.js'
import { canonicalJson, deepest, lastMembers } from './canonical-json.js'
import type { Tolerance } from './json-diff.js'
import { placeOf, pointerStep, type JsonPlace } from './json-place.js'
import { combineMatchers, parseMatcher, type Matcher } from './matcher.js'
import type { CompareRule } from './settings.js'
import { withJsonInTexts } from './text-json.js'
import type { VariedBetween, VariedKind } from './varying.js'
import { volatilePieces } from './volatile-forms.js'

/** An answer whose values are compared. */
export interface Compared {
  readonly text: string
  readonly span: Span
  /** JSON Pointers to what redaction took out. */
  readonly redacted: readonly string[]
}

/** Two values that are not equal and count as no difference, since every run makes its own. */
export interface Varied {
  readonly kinds: readonly VariedKind[]
  /** JSON Pointer, in the new answer. */
  readonly at: string
  /** Exact JSON text, as is `after`. */
  readonly before: string
  readonly after: string
}

/** Made anew by every run of a server, and opaque to everybody else. */
const opaque = parseMatcher('type')
const opaquePlaces: ReadonlySet<string> = new Set([
  '/result/nextCursor',
  '/result/requestState',
  ...['/result/task', '/result'].flatMap((at) => [`${at}/taskId`, `${at}/createdAt`, `${at}/lastUpdatedAt`]),
  '/result/_meta/io.modelcontextprotocol~1related-task/taskId',
  '/result/_meta/traceparent',
  '/result/_meta/tracestate',
])

/**
 * What may differ between two answers: the rules, what is opaque, and what was redacted.
 *
 * @param echoes what was asked with another value than before, as JSON text: the answer may repeat it
 * @param varying says what varies by itself; what it took is added to `varied`
 */
export function createTolerance(
  before: Compared,
  after: Compared,
  rules: readonly CompareRule[],
  ignored: ReadonlySet<string>,
  echoes: ReadonlyMap<string, string> = new Map(),
  varying?: VariedBetween,
  varied: Varied[] = [],
): Tolerance {
  const sides = { before: select(before, rules), after: select(after, rules) }
  const redacted = { before: new Set(before.redacted), after: new Set(after.redacted) }

  /** Undefined: nothing is said about the place. */
  function matcherAt(side: 'before' | 'after', pointer: string): Matcher | undefined {
    return sides[side].matched.get(pointer) ?? (opaquePlaces.has(pointer) ? opaque : undefined)
  }
  const isIgnored = (side: 'before' | 'after', pointer: string): boolean =>
    ignored.has(pointer) || sides[side].ignored.has(pointer)

  return {
    isIgnored,
    accepts(beforePointer, beforeText, afterPointer, afterText) {
      if (redacted.before.has(beforePointer) || redacted.after.has(afterPointer)) return true
      if (echoes.size > 0 && repeats(echoes, beforeText, afterText)) return true
      const matcher = matcherAt('before', beforePointer) ?? matcherAt('after', afterPointer)
      // What the matcher does not take may still be equal, written in another way.
      if (matcher?.accepts(beforeText, afterText)) return true
      if (!varying || /^[[{]/.test(beforeText) || isSameValue(beforeText, afterText)) return undefined
      const names = placeOf(beforePointer).filter((step) => typeof step === 'string')
      const kinds = varying(names, beforeText, afterText)
      if (!kinds) return undefined
      varied.push({ kinds, at: afterPointer, before: beforeText, after: afterText })
      return true
    },
    standIn(side, pointer, text, start) {
      if (isIgnored(side, pointer)) return ''
      if (redacted[side].has(pointer)) return '‹any›'
      const matcher = matcherAt(side, pointer)
      if (!matcher && !varying) return undefined
      const value = text.slice(start, skipValue(text, start))
      return matcher ? matcher.standIn(value) : withoutVolatile(value)
    },
  }
}

/** Numbers and strings that are spelled in two ways. */
function isSameValue(before: string, after: string): boolean {
  return canonicalJson(before, 0) === canonicalJson(after, 0)
}

/** A text whose parts that every run makes anew are alike, so that elements of arrays are found again. */
function withoutVolatile(json: string): string | undefined {
  if (!json.startsWith('"') || json.length > 2_000) return undefined
  const pieces = volatilePieces(decodeString(json, 0, json.length))
  if (pieces.length === 1) return undefined
  return JSON.stringify(pieces.map(({ form, text }) => (form ? `‹${form}›` : text)).join(''))
}

/** Characters of a JSON string that are enough to be known within a sentence. */
const leastWithin = 10

/** A string that is what was asked with, or has it in it. */
function repeats(echoes: ReadonlyMap<string, string>, before: string, after: string): boolean {
  if (echoes.get(before) === after) return true
  if (!before.startsWith('"') || !after.startsWith('"')) return false
  let text = before
  for (const [old, now] of echoes)
    if (old.length >= leastWithin) text = text.replaceAll(old.slice(1, -1), () => now.slice(1, -1))
  return text === after
}

/** The places that rules name in one answer, as JSON Pointers into it with the JSON inside its texts read. */
export function ruledPlaces(
  answer: string,
  rules: readonly CompareRule[],
): ReadonlyMap<string, Matcher | undefined> {
  const { ignored, matched } = select(
    { text: answer, span: { start: 0, end: answer.length }, redacted: [] },
    rules,
  )
  return new Map<string, Matcher | undefined>([
    ...[...ignored].map((at) => [at, undefined] as const),
    ...matched,
  ])
}

interface Selection {
  readonly ignored: ReadonlySet<string>
  readonly matched: ReadonlyMap<string, Matcher>
}

const nothing: Selection = { ignored: new Set(), matched: new Map() }

/** Where the rules lead in one answer. Rules see JSON in texts as if it stood there. */
function select({ text, span }: Compared, rules: readonly CompareRule[]): Selection {
  if (rules.length === 0) return nothing
  const plain = text.slice(span.start, span.end)
  const whole = withJsonInTexts(plain)
  const ignored = new Set<string>()
  const matchers = new Map<string, Matcher[]>()
  for (const { path, matcher } of rules) {
    for (const pointer of follow(path, whole)) {
      const here = matchers.get(pointer)
      if (!matcher) ignored.add(pointer)
      else if (here) here.push(matcher)
      else matchers.set(pointer, [matcher])
    }
  }
  const matched = new Map([...matchers].map(([at, list]) => [at, combineMatchers(list)] as const))
  return { ignored, matched }
}

/**
 * The values that a path leads to in an answer. JSON in texts counts as if it stood there, where the path leads nowhere
 * in the answer as it stands, or to a text that is not wanted as one.
 *
 * @param asText a text that holds JSON is wanted as a text
 */
export function placesIn(
  path: CompareRule['path'],
  answer: string,
  asText: boolean,
): readonly { readonly place: JsonPlace; readonly text: string }[] {
  const found = findJsonValue(answer)
  if (isFault(found)) return []
  const plain = answer.slice(found.start, found.end)
  const inPlain = asText ? valuesIn(path, plain) : []
  return inPlain.length > 0 ? inPlain : valuesIn(path, withJsonInTexts(plain))
}

function valuesIn(path: CompareRule['path'], text: string): { place: JsonPlace; text: string }[] {
  return [...follow(path, text)].map((pointer) => {
    const { start, end } = valueAt(text, 0, pointerSteps(pointer))!
    return { place: placeOf(pointer), text: text.slice(start, end) }
  })
}

function follow(path: CompareRule['path'], text: string): Iterable<string> {
  try {
    const starts = path.find(text, { start: 0, end: text.length }).map(({ start }) => start)
    return pointersTo(text, new Set(starts))
  } catch (problem) {
    if (!(problem instanceof BudgetSpent)) throw problem
    return []
  }
}

/** JSON Pointers to the values that begin at these places. */
function pointersTo(text: string, starts: ReadonlySet<number>): string[] {
  const found: string[] = []
  if (starts.size === 0) return found
  function visit(start: number, pointer: string, depth: number): void {
    if (starts.has(start)) found.push(pointer)
    if (found.length === starts.size || depth === deepest) return
    const kind = kindAt(text, start)
    if (kind === 'array') {
      for (const [i, element] of elementsOf(text, start).entries())
        visit(element.start, `${pointer}/${i}`, depth + 1)
    } else if (kind === 'object') {
      for (const member of lastMembers(text, start))
        visit(member.start, pointer + pointerStep(member.name), depth + 1)
    }
  }
  visit(0, '', 0)
  return found
}
