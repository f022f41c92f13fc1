import { BudgetSpent, compilePath, type CompiledPath } from '../json-path/index.js'
import { elementsOf, kindAt, membersOf, type Span } from '../wire/index.js'
import type { PathRule } from './redactor.js'

/** A rule that replaces whatever its path leads to. Throws QueryFault. */
export function compilePathRule(name: string, text: string): PathRule {
  const path = compilePath(text)
  return {
    kind: 'path',
    name,
    find(json, whole) {
      const isBatch = kindAt(json, 0) === 'array'
      for (const message of isBatch ? elementsOf(json, 0) : [{ start: 0, end: json.length }]) {
        for (const { start, end } of follow(path, json, message)) {
          if (!whole.has(start)) whole.set(start, { end, rule: name })
        }
      }
    },
  }
}

/** What the path leads to in one message; what it could not be followed through in linear time goes whole. */
function follow(path: CompiledPath, text: string, message: Span): readonly Span[] {
  try {
    return path.find(text, message)
  } catch (problem) {
    if (!(problem instanceof BudgetSpent)) throw problem
    const members = membersOf(text, message.start)
    const payload = members.filter(({ name }) => name === 'params' || name === 'result' || name === 'error')
    return payload.length > 0 ? payload : [message]
  }
}
