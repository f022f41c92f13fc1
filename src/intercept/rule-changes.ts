import type { FrameText } from './frame.js'
import { cannotApplyError, cannotApplyWords, type RuleDecision } from './rules/index.js'

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

/** What a rule made of it cannot go on any more: nothing does, and who sent a request gets an error. */
export function cannotGoOn(
  { parts }: Pick<FrameText, 'parts'>,
  rule: string | undefined,
  reason: string,
): { readonly why: string; readonly answers: readonly string[]; readonly rule?: string } {
  const why = cannotApplyWords(rule ?? '', reason)
  const answers = parts.flatMap(({ envelope: { kind, id } }) =>
    kind === 'request' && id !== undefined ? [cannotApplyError(id, why)] : [],
  )
  return { why, answers, ...(rule !== undefined && { rule }) }
}
