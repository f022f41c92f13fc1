import { refuse, type PartOutcome } from './apply.js'
import type { RuleDecision, RuleFrame, Rules } from './decision.js'
import { decisionOf } from './rules-engine.js'

/** What becomes of a message by the word of whoever looks at all of them. */
export interface GuardVerdict {
  /** `note`: it goes on, and its record names the rules. */
  readonly kind: 'note' | 'hold' | 'block'
  /** Names of the rules, for the tape's `rule`. */
  readonly rules: string
  /** In words, for the error that a blocked message is answered with. */
  readonly why: string
}

/**
 * Looks at every message in the order of arrival.
 *
 * @returns a verdict for each message of the frame, or nothing. Never throws.
 */
export type Guard = (frame: RuleFrame) => readonly (GuardVerdict | undefined)[]

/** A guard before the rules of a file, which see what it lets pass. */
export class GuardedRules implements Rules {
  readonly names: readonly string[]
  readonly #guard: Guard
  readonly #rules: Rules | undefined

  constructor(guard: Guard, rules: Rules | undefined) {
    this.#guard = guard
    this.#rules = rules
    this.names = rules?.names ?? []
  }

  mayConcern(): boolean {
    return true
  }

  decide(frame: RuleFrame): RuleDecision | undefined {
    const verdicts = this.#guard(frame)
    if (verdicts.some((verdict) => verdict !== undefined && verdict.kind !== 'note'))
      return decisionOf(
        frame,
        frame.parts.map((_, i) => outcomeOf(frame, i, verdicts[i])),
      )
    const decision = this.#rules?.decide(frame)
    const noted = [...new Set(verdicts.flatMap((verdict) => verdict?.rules ?? []))]
    if (noted.length === 0) return decision
    const rule = [...noted, ...(decision ? [decision.rule] : [])].join(', ')
    return { verdict: 'forward', delayMs: 0, copies: 0, answers: [], ...decision, rule }
  }
}

function outcomeOf(
  { raw, parts }: RuleFrame,
  i: number,
  verdict: GuardVerdict | undefined,
): PartOutcome | undefined {
  if (!verdict) return undefined
  const { start, end, subject } = parts[i]!
  const outcome: PartOutcome = {
    text: raw.slice(start, end),
    names: [verdict.rules],
    delayMs: 0,
    copies: 0,
    end: verdict.kind === 'hold' ? { kind: 'hold' } : undefined,
  }
  if (verdict.kind === 'block') refuse(outcome, subject, `blocked by ${verdict.rules}: ${verdict.why}`)
  return outcome
}
