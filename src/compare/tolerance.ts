import { BudgetSpent } from '../json-path/index.js'
import { elementsOf, kindAt, skipValue, type Span } from '../wire/index.js'
import { deepest, lastMembers } from './canonical-json.js'
import type { Tolerance } from './json-diff.js'
import { pointerStep } from './json-place.js'
import { parseMatcher, type Matcher } from './matcher.js'
import type { CompareRule } from './settings.js'
import { withJsonInTexts } from './text-json.js'

/** An answer whose values are compared. */
export interface Compared {
  readonly text: string
  readonly span: Span
  /** JSON Pointers to what redaction took out. */
  readonly redacted: readonly string[]
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
 */
export function createTolerance(
  before: Compared,
  after: Compared,
  rules: readonly CompareRule[],
  ignored: ReadonlySet<string>,
  echoes: ReadonlyMap<string, string> = new Map(),
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
      if (!matcher) return undefined
      // What the matcher does not take may still be equal, written in another way.
      return matcher.accepts(beforeText, afterText) ? true : undefined
    },
    standIn(side, pointer, text, start) {
      if (isIgnored(side, pointer)) return ''
      if (redacted[side].has(pointer)) return '‹any›'
      return matcherAt(side, pointer)?.standIn(text.slice(start, skipValue(text, start)))
    },
  }
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
  const matched = new Map<string, Matcher>()
  for (const { path, matcher } of rules) {
    for (const pointer of follow(path, whole)) {
      if (matcher) matched.set(pointer, matcher)
      else ignored.add(pointer)
    }
  }
  return { ignored, matched }
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
