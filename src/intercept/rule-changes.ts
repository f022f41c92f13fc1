import type { RuleDecision } from './rules/index.js'

/** What a rule made of a message that does not go on at once. */
export interface RuleChanges {
  readonly rule?: string
  readonly text?: string
  readonly copies?: number
  readonly answers?: readonly string[]
}

export function ruleOf({ rule, text, copies, answers }: RuleDecision): RuleChanges {
  return {
    rule,
    ...(text !== undefined && { text }),
    ...(copies > 0 && { copies }),
    ...(answers.length > 0 && { answers }),
  }
}
