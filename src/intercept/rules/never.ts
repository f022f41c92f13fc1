import type { Condition } from '../../filter/index.js'
import type { Rule } from './rule.js'

const aboutRequests: ReadonlySet<string> = new Set(['method', 'tool', 'prompt', 'resource', 'name'])
const aboutAnswers: ReadonlySet<string> = new Set([
  'answer',
  'result',
  'error',
  'tool-error',
  'late',
  'orphan',
])

/**
 * Why a rule can never be applied, in words with the expected form. The method of a message and the outcome of an
 * exchange are on different messages, unless the rule matches responses by their requests.
 */
export function neverReason({ when, answersOnly }: Pick<Rule, 'when' | 'answersOnly'>): string | undefined {
  if (answersOnly) return undefined
  const conditions = conjuncts(when.condition)
  const named = conditions.find(
    (condition) => condition.kind === 'name' && aboutRequests.has(condition.field),
  )
  const ended = conditions.find(isAboutAnswers)
  if (named?.kind !== 'name' || !ended) return undefined
  return `can never match: ${named.field} is part of requests, the other conditions are about responses; add on: answers to the rule`
}

/** The conditions that must all hold. */
function conjuncts(condition: Condition): readonly Condition[] {
  return condition.kind === 'all' ? condition.of.flatMap(conjuncts) : [condition]
}

function isAboutAnswers(condition: Condition): boolean {
  switch (condition.kind) {
    case 'flag':
      return aboutAnswers.has(condition.flag)
    case 'status':
      return true
    case 'number':
      return ['latencyMs', 'errorCode', 'httpStatus'].includes(condition.field)
    case 'path':
      return condition.path.steps?.[0] === 'result' || condition.path.steps?.[0] === 'error'
    default:
      return false
  }
}
