import parsePath from 'jsonpath-rfc9535/parser'
import { elementsOf, forEachMember, kindAt, type Span } from '../wire/index.js'
import { compilePattern } from './compile-pattern.js'
import { readTree, type JsonNode } from './json-tree.js'
import { PathReading, type FunctionCall, type JsonPathQuery } from './path-query.js'
import { QueryFault } from './query-fault.js'
import { BudgetSpent, WorkBudget } from './work-budget.js'

const longestPath = 1000
const stepsPerCharacter = 20
const stepsAtLeast = 100_000
/** Maximum number of values in one message: some 100 MB of memory while a path is followed. */
export const mostNodes = 500_000

/** One step of a path that names at most one place: a member's name, or an index. */
export type PathStep = string | number

/** A JSONPath (RFC 9535) that is evaluated on exact text, in linear time. */
export interface CompiledPath {
  /** As written. */
  readonly text: string
  /** The steps of a path that names one place; undefined for one with wildcards, slices, filters or `..`. */
  readonly steps?: readonly PathStep[]
  /**
   * The values selected by the path, in the checked JSON value at `value` in `text`. A name selects every
   * duplicate of a member.
   *
   * @throws BudgetSpent when it would take more than linear time
   */
  find(text: string, value: Span): readonly Span[]
}

/**
 * @param example for the advice when the path is invalid
 * @throws QueryFault
 */
export function compilePath(path: string, example = '$.params.arguments.name'): CompiledPath {
  if (path.length > longestPath)
    throw new QueryFault(`is longer than ${longestPath} characters`, 'write a shorter path')
  const query = parse(path, example)
  const calls = callsIn(query)
  if (countOf(query, 'DescendantSegment') > 1) {
    throw new QueryFault('has more than one ..', 'split it into paths with one .. each')
  }
  const steps = stepsOf(query)
  if (steps) return { text: path, steps, find: (text, value) => followSteps(steps, text, value) }
  const patterns = new Map(calls.flatMap((call) => patternOf(call)))
  const test = (call: FunctionCall, text: string): boolean => patterns.get(call)?.(text) ?? false
  return {
    text: path,
    find(text, { start, end }): readonly JsonNode[] {
      const budget = new WorkBudget(stepsAtLeast + stepsPerCharacter * (end - start))
      const tree = readTree(text, start, new WorkBudget(mostNodes))
      return new PathReading(text, tree, test, budget).query(query)
    },
  }
}

function stepsOf({ segments }: JsonPathQuery): PathStep[] | undefined {
  const steps: PathStep[] = []
  for (const { type, node } of segments) {
    if (type === 'DescendantSegment') return undefined
    const selectors = node.type === 'BracketedSelection' ? node.selectors : [node]
    const [selector] = selectors
    if (selector === undefined || selectors.length > 1) return undefined
    if (
      selector.type !== 'MemberNameShorthand' &&
      selector.type !== 'NameSelector' &&
      selector.type !== 'IndexSelector'
    )
      return undefined
    steps.push(selector.value)
  }
  return steps
}

/** Avoids a tree of the text: most paths are of this kind, and most messages do not match them. */
export function followSteps(steps: readonly PathStep[], text: string, value: Span): readonly Span[] {
  let spans: readonly Span[] = [value]
  for (const step of steps) {
    const next: Span[] = []
    for (const { start } of spans) {
      const kind = kindAt(text, start)
      if (typeof step === 'string') {
        if (kind !== 'object') continue
        forEachMember(text, start, (member) => {
          if (member.name !== step) return
          if (next.length >= mostNodes) throw new BudgetSpent()
          next.push(member)
        })
      } else if (kind === 'array') {
        const most = step < 0 ? mostNodes : Math.min(step, mostNodes) + 1
        const elements = elementsOf(text, start, most)
        if (elements.length >= mostNodes) throw new BudgetSpent()
        const element = elements.at(step)
        if (element) next.push(element)
      }
    }
    if (next.length === 0) return next
    spans = next
  }
  return spans
}

function parse(path: string, example: string): JsonPathQuery {
  try {
    return parsePath(path)
  } catch (problem) {
    const { message, location } = problem as { message: string; location?: { start: { column: number } } }
    const found = / but (?:(end of input)|.*) found\.$/s.exec(message)?.[1]
    const what = found === undefined ? 'is not a JSONPath (RFC 9535)' : 'is incomplete'
    const meant = withRoot(path)
    const advice = meant === undefined ? `use a path such as ${example}` : `did you mean ${meant}?`
    throw new QueryFault(what, advice, location?.start.column)
  }
}

/** The path with the missing `$` added; undefined when something else is wrong with it. */
function withRoot(path: string): string | undefined {
  if (path.startsWith('$')) return undefined
  const rooted = /^[.[]/.test(path) ? `$${path}` : `$.${path}`
  try {
    parsePath(rooted)
    return rooted
  } catch {
    return undefined
  }
}

const functions = new Map([
  ['length', 1],
  ['count', 1],
  ['value', 1],
  ['match', 2],
  ['search', 2],
])

/** All function calls in a query. */
function callsIn(query: JsonPathQuery): FunctionCall[] {
  const calls = [...nodesIn(query)].filter((node): node is FunctionCall => node.type === 'FunctionExpr')
  for (const call of calls) {
    const count = functions.get(call.name)
    if (count === undefined) {
      throw new QueryFault(
        `calls ${call.name}(), which does not exist`,
        `known functions: ${[...functions.keys()].join(', ')}`,
      )
    }
    if (call.arguments.length !== count) {
      throw new QueryFault(`calls ${call.name}() with ${call.arguments.length} arguments`, `pass ${count}`)
    }
  }
  return calls
}

/** The pattern of `match` and `search` must be constant, so that it can be compiled for the linear engine. */
function patternOf(call: FunctionCall): [FunctionCall, (text: string) => boolean][] {
  if (call.name !== 'match' && call.name !== 'search') return []
  const pattern = call.arguments[1]
  if (pattern?.type !== 'Literal' || typeof pattern.value !== 'string') {
    throw new QueryFault(
      `calls ${call.name}() with a pattern from the message`,
      'write the pattern into the path',
    )
  }
  const compiled = compileArgument(call.name === 'match' ? `^(?:${pattern.value})$` : pattern.value)
  return [[call, (text) => compiled.test(text)]]
}

/** Drops the column, which would refer to the pattern instead of the path. */
function compileArgument(pattern: string): { test(text: string): boolean } {
  try {
    return compilePattern(pattern, false)
  } catch (problem) {
    if (!(problem instanceof QueryFault)) throw problem
    throw new QueryFault(`has a pattern that ${problem.message}`, problem.advice)
  }
}

function countOf(query: JsonPathQuery, type: string): number {
  return [...nodesIn(query)].filter((node) => node.type === type).length
}

/** All nodes of a syntax tree that have a type. */
function* nodesIn(tree: unknown): Iterable<{ type: string }> {
  if (typeof tree !== 'object' || tree === null) return
  if ('type' in tree) yield tree as { type: string }
  for (const child of Object.values(tree)) yield* nodesIn(child)
}
