import type { RuleDecision } from './rules/index.js'

/** What a rule made of a message that does not go on at once. */
export interface RuleChanges {
  readonly rule?: string
  readonly text?: string
  /** Of a batch that lost elements: the places, before, of those that are left. */
  readonly kept?: readonly number[]
  readonly copies?: number
  readonly answers?: readonly string[]
}

export function ruleOf({ rule, text, kept, copies, answers }: RuleDecision): RuleChanges {
  return {
    rule,
    ...(text !== undefined && { text }),
    ...(kept && { kept }),
    ...(copies > 0 && { copies }),
    ...(answers.length > 0 && { answers }),
  }
}
