import { BudgetSpent } from '../json-path/index.js'
import type { Condition } from './condition.js'
import { compileCondition, costOf, payloadCost } from './compile.js'
import type { FilterSubject } from './subject.js'

/** A parsed filter. */
export interface Filter {
  /** As written. */
  readonly text: string
  readonly condition: Condition
  /** Undefined if it cannot be evaluated in linear time: possible only for a JSONPath with `..` or a filter. */
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

/** Whether the subject matches. It does not if evaluation takes more than linear time. */
export function matchFilter(filter: Filter, subject: FilterSubject): boolean {
  return filter.test(subject) === true
}

/** Whether the filter reads the text of messages. */
export function needsPayload({ condition }: Filter): boolean {
  return costOf(condition) >= payloadCost
}

/** Whether rules must run before the filter is evaluated. */
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

/** Whether the filter is empty and matches everything. */
export function isEmptyFilter({ condition }: Filter): boolean {
  return condition.kind === 'all' && condition.of.length === 0
}
