import type { Condition } from '../../filter/index.js'
import type { Direction } from '../../model/index.js'
import type { Rule } from './rule.js'

/**
 * Whether any rule may apply to a frame, judged by its bytes: false only if none does. Most frames match no rule and
 * then need no JSON parsing.
 *
 * @param bytes the frame's bytes as Latin-1, one character per byte
 */
export type QuickLook = (bytes: string, direction: Direction) => boolean

/** Requirements on a message for a condition to hold. */
interface Needs {
  readonly direction?: Direction
  /** For each list, the bytes contain one of its texts, unless written with escapes. */
  readonly texts: readonly (readonly string[])[]
}

const nothing: Needs = { texts: [] }

/** Compiles the check for all rules together. */
export function compileQuickLook(rules: readonly Rule[]): QuickLook {
  const needs = rules.flatMap((rule) =>
    rule.answersOnly ? answerNeeds(rule) : [needsOf(rule.when.condition)],
  )
  const finder = new Finder()
  const counts = countTexts(needs)
  const countOf = (texts: readonly string[]): number =>
    Math.max(...texts.map((text) => counts.get(text) ?? 0))
  const looks: Look[] = needs.map(({ direction, texts }) => ({
    direction,
    // Texts that many rules need come first: each is searched once for all of them.
    texts: texts
      .toSorted((a, b) => countOf(b) - countOf(a))
      .map((oneOf) => oneOf.map((text) => finder.add(text))),
  }))
  const client = firstLook(looks, finder, 'client_to_server')
  const server = firstLook(looks, finder, 'server_to_client')
  return (bytes, given) => {
    const first = given === 'client_to_server' ? client : server
    if (!first(bytes)) return false
    // Any character can be written as an escape; a slash also with a backslash in front.
    if (bytes.includes('\\u') || bytes.includes('\\/')) return looks.length > 0
    finder.begin(bytes)
    return looks.some(
      ({ direction, texts }) =>
        (direction === undefined || direction === given) &&
        texts.every((oneOf) => oneOf.some((text) => finder.has(text))),
    )
  }
}

interface Look {
  readonly direction: Direction | undefined
  /** Indexes of texts. */
  readonly texts: readonly (readonly number[])[]
}

/**
 * Searches for all required texts at once: the engine skips text without any of them several characters at a time, in a
 * tenth of the time of one search after the other.
 */
function firstLook(looks: readonly Look[], finder: Finder, given: Direction): (bytes: string) => boolean {
  const about = looks.filter(({ direction }) => direction === undefined || direction === given)
  if (about.length === 0) return () => false
  if (about.some(({ texts }) => texts.length === 0)) return () => true
  const texts = new Set(about.flatMap((look) => look.texts[0]!.map((text) => finder.textOf(text))))
  const pattern = new RegExp(
    [String.raw`\\[u/]`, ...[...texts].map((text) => text.replace(/[/.]/g, '\\$&'))].join('|'),
  )
  return (bytes) => pattern.test(bytes)
}

/** Searches the same bytes for each text once. */
class Finder {
  readonly #texts: string[] = []
  readonly #numbers = new Map<string, number>()
  readonly #found: (boolean | undefined)[] = []
  #bytes = ''

  add(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#texts.length)
    this.#found.push(undefined)
    return this.#texts.push(text) - 1
  }

  textOf(number: number): string {
    return this.#texts[number]!
  }

  begin(bytes: string): void {
    this.#bytes = bytes
    this.#found.fill(undefined)
  }

  has(text: number): boolean {
    return (this.#found[text] ??= this.#bytes.includes(this.#texts[text]!))
  }
}

/** How many rules need each text. */
function countTexts(needs: readonly Needs[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { texts } of needs)
    for (const text of texts.flat()) counts.set(text, (counts.get(text) ?? 0) + 1)
  return counts
}

/** For a rule on responses: any response, and the requests it names, which must be remembered. */
function answerNeeds({ when }: Rule): Needs[] {
  return [namesIn(when.condition), anyAnswer]
}

const anyAnswer: Needs = { texts: [['"result"', '"error"']] }
const failure: Needs = { texts: [['"error"', '"isError"']] }

/** Requirements on the request named by a condition; the other conditions are about the response. */
function namesIn(condition: Condition): Needs {
  if (condition.kind === 'all') return together(condition.of.map(namesIn))
  return condition.kind === 'name' ? nameNeeds(condition) : nothing
}

/** Requirements on every message that matches the condition. */
function needsOf(condition: Condition): Needs {
  switch (condition.kind) {
    case 'all':
      return together(condition.of.map(needsOf))
    case 'any':
      return either(condition.of.map(needsOf))
    case 'direction':
      return { direction: condition.direction, texts: [] }
    case 'status':
      return condition.status === 'error' ? failure : nothing
    case 'flag':
      return flagNeeds(condition.flag)
    case 'number':
      return condition.field === 'errorCode' ? { texts: [['"code"']] } : nothing
    case 'name':
      return nameNeeds(condition)
    case 'path': {
      const names = condition.path.steps?.filter((step) => typeof step === 'string') ?? []
      return together(names.map(written))
    }
    default:
      return nothing
  }
}

function flagNeeds(flag: string): Needs {
  if (flag === 'error' || flag === 'tool-error') return failure
  if (flag === 'answer') return anyAnswer
  if (flag === 'result') return { texts: [['"result"']] }
  return flag === 'request' || flag === 'notification' ? { texts: [['"method"']] } : nothing
}

function nameNeeds({ field, test }: Extract<Condition, { kind: 'name' }>): Needs {
  if (field === 'conversation' || field === 'rule') return nothing
  const pieces = test.how === 'exact' ? [test.text] : test.how === 'glob' ? test.text.split('*') : []
  const method = { tool: 'tools/call', prompt: 'prompts/get', resource: 'resources/', method: '', name: '' }[
    field
  ]
  return together([...pieces, method].map(written))
}

/** Text with several spellings, or common to most messages, is no requirement. */
function written(text: string): Needs {
  return /^[\w./:@-]{3,}$/.test(text) && text !== 'params' ? { texts: [[text]] } : nothing
}

function together(all: readonly Needs[]): Needs {
  const direction = all.find((needs) => needs.direction !== undefined)?.direction
  return { ...(direction && { direction }), texts: all.flatMap(({ texts }) => texts) }
}

function shortest(oneOf: readonly string[]): number {
  return Math.min(...oneOf.map((text) => text.length))
}

/** The most selective text of each: if none is found, none of the conditions holds. */
function either(all: readonly Needs[]): Needs {
  const texts = all.map((needs) => {
    // User-given names come before methods, which many messages contain; a short text occurs anywhere.
    const telling = needs.texts.find((oneOf) => shortest(oneOf) > 3)
    return telling ?? needs.texts[0]
  })
  return texts.every((oneOf) => oneOf !== undefined) ? { texts: [texts.flat()] } : nothing
}
