import type { Offer } from './frame.js'
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

/** What a rule makes of it cannot go on: nothing does, and who sent a request gets an error. */
export function cannotApply(
  { parts }: Pick<Offer, 'parts'>,
  { rule }: RuleDecision,
  reason: string,
): RuleDecision {
  const problem = `rule ${rule} cannot be applied: ${reason}`
  const message = JSON.stringify(`wiretape: ${problem}`)
  const answers = parts.flatMap(({ envelope: { kind, id } }) =>
    kind === 'request' && id !== undefined
      ? [`{"jsonrpc":"2.0","id":${id},"error":{"code":-32603,"message":${message}}}`]
      : [],
  )
  const verdict = answers.length > 0 ? 'answer' : 'drop'
  return { rule, verdict, delayMs: 0, copies: 0, answers, problem }
}
