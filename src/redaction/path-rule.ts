import { BudgetSpent, compilePath, type CompiledPath } from '../json-path/index.js'
import { forEachMember, kindAt, partsOf, type Span } from '../wire/index.js'
import { mostMarks, TooManyMarks } from './finding.js'
import type { PathRule } from './redactor.js'
import { isPayload } from './whole-values.js'

/** A rule that replaces all values at its path. Throws QueryFault. */
export function compilePathRule(name: string, text: string): PathRule {
  const path = compilePath(text)
  return {
    kind: 'path',
    name,
    find(json, whole) {
      for (const message of partsOf(json).parts) {
        // An excessively large batch counts as one message; its messages are not searched one by one.
        if (kindAt(json, message.start) === 'array') throw new TooManyMarks()
        for (const { start, end } of follow(path, json, message)) {
          if (!whole.has(start)) whole.set(start, { end, rule: name })
          if (whole.size > mostMarks) throw new TooManyMarks()
        }
      }
    },
  }
}

/** The values at the path in one message; the whole payload, if they cannot be found in linear time. */
function follow(path: CompiledPath, text: string, message: Span): readonly Span[] {
  try {
    return path.find(text, message)
  } catch (problem) {
    if (!(problem instanceof BudgetSpent)) throw problem
    const payload: Span[] = []
    forEachMember(text, message.start, ({ name, start, end }) => {
      if (isPayload(name) && payload.length <= mostMarks) payload.push({ start, end })
    })
    return payload.length > 0 ? payload : [message]
  }
}
