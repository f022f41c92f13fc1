import { refuse, type PartOutcome } from './apply.js'
import { unchanged, type Decision } from '../decision.js'
import { decisionOf } from './rules-engine.js'
import type { RuleFrame, Rules } from './rules.js'

/** A guard's decision about one message. */
export interface GuardVerdict {
  /** `note`: it is forwarded, and its record names the rules. */
  readonly kind: 'note' | 'hold' | 'block'
  /** Names of the rules, for the tape's `rule`. */
  readonly rules: string
  /** Reason, for the error response to a blocked message. */
  readonly why: string
}

/**
 * Inspects every message in the order of arrival.
 *
 * @returns a verdict, or undefined, for each message of the frame. Never throws.
 */
export type Guard = (frame: RuleFrame) => readonly (GuardVerdict | undefined)[]

/** A guard in front of a file's rules, which see only the messages it passes. */
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

  decide(frame: RuleFrame): Decision | undefined {
    const verdicts = this.#guard(frame)
    if (verdicts.some((verdict) => verdict !== undefined && verdict.kind !== 'note'))
      return decisionOf(
        frame,
        frame.parts.map((_, i) => outcomeOf(frame, i, verdicts[i])),
      )
    const decision = this.#rules?.decide(frame)
    const noted = [...new Set(verdicts.flatMap((verdict) => verdict?.rules ?? []))]
    if (noted.length === 0) return decision
    const rule = [...noted, decision?.rule ?? []].flat().join(', ')
    return { ...unchanged, ...decision, rule }
  }
}

function outcomeOf(
  { text, parts, subjects }: RuleFrame,
  i: number,
  verdict: GuardVerdict | undefined,
): PartOutcome | undefined {
  if (!verdict) return undefined
  const { start, end } = parts[i]!
  const outcome: PartOutcome = {
    text: text.slice(start, end),
    names: [verdict.rules],
    delayMs: 0,
    copies: 0,
    end: verdict.kind === 'hold' ? { kind: 'hold' } : undefined,
  }
  if (verdict.kind === 'block') refuse(outcome, subjects[i]!, `blocked by ${verdict.rules}: ${verdict.why}`)
  return outcome
}
