import { BudgetSpent } from '../json-path/index.js'
import type { Condition } from './condition.js'
import { compileCondition, costOf, payloadCost } from './compile.js'
import type { FilterSubject } from './subject.js'

/** A filter that was understood. */
export interface Filter {
  /** As written. */
  readonly text: string
  readonly condition: Condition
  /** Undefined when it cannot be told in linear time, which only a JSONPath with `..` or a filter can come to. */
  test(subject: FilterSubject): boolean | undefined
}

export function createFilter(text: string, condition: Condition): Filter {
  const test = compileCondition(condition)
  return {
    text,
    condition,
    test(subject) {
      try {
        return test(subject)
      } catch (problem) {
        if (problem instanceof BudgetSpent) return undefined
        throw problem
      }
    },
  }
}

/** Whether the filter keeps the subject. What cannot be told in linear time is not kept. */
export function matchFilter(filter: Filter, subject: FilterSubject): boolean {
  return filter.test(subject) === true
}

/** Whether the text of messages has to be at hand. */
export function needsPayload({ condition }: Filter): boolean {
  return costOf(condition) >= payloadCost
}

/** Whether rules have to be run before the filter can be asked. */
export function needsFindings({ condition }: Filter): boolean {
  return findingTests(condition).length > 0
}

/** The conditions of a filter that are about findings. */
export function findingTests(
  condition: Condition,
): readonly Extract<Condition, { kind: 'finding' | 'level' }>[] {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return condition.of.flatMap(findingTests)
    case 'not':
      return findingTests(condition.of)
    case 'finding':
    case 'level':
      return [condition]
    default:
      return []
  }
}

/** Whether everything matches, whatever it is. */
export function isEmptyFilter({ condition }: Filter): boolean {
  return condition.kind === 'all' && condition.of.length === 0
}
