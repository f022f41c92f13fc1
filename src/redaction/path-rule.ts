import parsePath from 'jsonpath-rfc9535/parser'
import { elementsOf, kindAt, membersOf, type Span } from '../wire/index.js'
import { readTree } from './json-tree.js'
import { compilePattern } from './pattern-rule.js'
import { PathReading, type FunctionCall, type JsonPathQuery } from './path-query.js'
import type { PathRule } from './redactor.js'
import { RuleFault } from './rule-fault.js'
import { BudgetSpent, WorkBudget } from './work-budget.js'

export const longestPath = 1000
const stepsPerCharacter = 20
const stepsAtLeast = 100_000
/** Values in one message: some 100 MB of memory while a path is followed. */
const mostNodes = 500_000

/** A rule that replaces whatever its path leads to. Throws RuleFault. */
export function compilePathRule(name: string, path: string): PathRule {
  if (path.length > longestPath)
    throw new RuleFault(`is longer than ${longestPath} characters`, 'write a shorter path')
  const query = parse(path)
  const calls = callsIn(query)
  if (countOf(query, 'DescendantSegment') > 1) {
    throw new RuleFault('has more than one `..`', 'split it into rules that have one each')
  }
  const patterns = new Map(calls.flatMap((call) => patternOf(call)))
  const test = (call: FunctionCall, text: string): boolean => patterns.get(call)?.(text) ?? false
  return {
    kind: 'path',
    name,
    find(text, whole) {
      const isBatch = kindAt(text, 0) === 'array'
      for (const message of isBatch ? elementsOf(text, 0) : [{ start: 0, end: text.length }]) {
        for (const { start, end } of follow(query, text, message, test)) {
          if (!whole.has(start)) whole.set(start, { end, rule: name })
        }
      }
    },
  }
}

/** What the path leads to in one message; what it could not be followed through in linear time goes whole. */
function follow(
  query: JsonPathQuery,
  text: string,
  message: Span,
  test: (call: FunctionCall, text: string) => boolean,
): readonly Span[] {
  const budget = new WorkBudget(stepsAtLeast + stepsPerCharacter * (message.end - message.start))
  try {
    const tree = readTree(text, message.start, new WorkBudget(mostNodes))
    return new PathReading(text, tree, test, budget).query(query)
  } catch (problem) {
    if (!(problem instanceof BudgetSpent)) throw problem
    const members = membersOf(text, message.start)
    const payload = members.filter(({ name }) => name === 'params' || name === 'result' || name === 'error')
    return payload.length > 0 ? payload : [message]
  }
}

function parse(path: string): JsonPathQuery {
  try {
    return parsePath(path)
  } catch (problem) {
    const { message, location } = problem as { message: string; location?: { start: { column: number } } }
    const found = / but (?:(end of input)|.*) found\.$/s.exec(message)?.[1]
    const what = found === undefined ? 'is no JSONPath (RFC 9535)' : 'breaks off'
    throw new RuleFault(what, 'write one such as $.params.arguments.name', location?.start.column)
  }
}

const functions = new Map([
  ['length', 1],
  ['count', 1],
  ['value', 1],
  ['match', 2],
  ['search', 2],
])

/** The calls in a query, all of functions that there are. */
function callsIn(query: JsonPathQuery): FunctionCall[] {
  const calls = [...nodesIn(query)].filter((node): node is FunctionCall => node.type === 'FunctionExpr')
  for (const call of calls) {
    const count = functions.get(call.name)
    if (count === undefined) {
      throw new RuleFault(
        `calls ${call.name}(), which does not exist`,
        `there are ${[...functions.keys()].join(', ')}`,
      )
    }
    if (call.arguments.length !== count) {
      throw new RuleFault(`calls ${call.name}() with ${call.arguments.length} arguments`, `give it ${count}`)
    }
  }
  return calls
}

/** The pattern of `match` and `search` has to be known beforehand, to be compiled for the linear engine. */
function patternOf(call: FunctionCall): [FunctionCall, (text: string) => boolean][] {
  if (call.name !== 'match' && call.name !== 'search') return []
  const pattern = call.arguments[1]
  if (pattern?.type !== 'Literal' || typeof pattern.value !== 'string') {
    throw new RuleFault(
      `calls ${call.name}() with a pattern out of the message`,
      'write the pattern into the path',
    )
  }
  const compiled = compileArgument(call.name === 'match' ? `^(?:${pattern.value})$` : pattern.value)
  return [[call, (text) => compiled.test(text)]]
}

/** Without the column, which would count in the pattern and not in the path. */
function compileArgument(pattern: string): { test(text: string): boolean } {
  try {
    return compilePattern(pattern, false)
  } catch (problem) {
    if (!(problem instanceof RuleFault)) throw problem
    throw new RuleFault(`has a pattern that ${problem.message}`, problem.advice)
  }
}

function countOf(query: JsonPathQuery, type: string): number {
  return [...nodesIn(query)].filter((node) => node.type === type).length
}

/** Everything in a syntax tree that has a type. */
function* nodesIn(tree: unknown): Iterable<{ type: string }> {
  if (typeof tree !== 'object' || tree === null) return
  if ('type' in tree) yield tree as { type: string }
  for (const child of Object.values(tree)) yield* nodesIn(child)
}
