import { spliceText } from '../../wire/index.js'
import type { Decision } from '../decision.js'
import { applyAction, checkChanged, type PartOutcome } from './apply.js'
import { ownView } from './own-view.js'
import { compileQuickLook } from './quick-look.js'
import { createRandom } from './random.js'
import type { ParsedRules, Rule } from './rule.js'
import type { RuleFrame, Rules } from './rules.js'

/** State of a rule. */
interface RuleState {
  readonly rule: Rule
  readonly random: () => number
  /** Number of messages that matched. */
  matched: number
  /** Number of messages it was applied to. */
  applied: number
}

/**
 * Rules in force.
 *
 * @param before the replaced rules: a rule that is in both keeps its counters
 */
export function createRules({ seed, rules }: ParsedRules, before?: Rules): Rules {
  return new RunningRules(seed, rules, before instanceof RunningRules ? before : undefined)
}

class RunningRules implements Rules {
  readonly names: readonly string[]
  readonly #seed: number
  readonly #states: readonly RuleState[]
  readonly mayConcern: Rules['mayConcern']

  constructor(seed: number, rules: readonly Rule[], before: RunningRules | undefined) {
    this.#seed = seed
    this.names = rules.map(({ name }) => name)
    this.mayConcern = compileQuickLook(rules)
    const known = before && before.#seed === seed ? before.#states : []
    this.#states = rules.map((rule) => {
      const same = known.find((state) => state.rule.name === rule.name && state.rule.source === rule.source)
      if (same) return { ...same, rule }
      return { rule, random: createRandom(seed, rule.name), matched: 0, applied: 0 }
    })
  }

  decide(frame: RuleFrame): Decision | undefined {
    let outcomes: (PartOutcome | undefined)[] | undefined
    for (const i of frame.parts.keys()) {
      const outcome = this.#decidePart(frame, i)
      if (!outcome) continue
      outcomes ??= frame.parts.map(() => undefined)
      outcomes[i] = outcome
    }
    return outcomes && decisionOf(frame, outcomes)
  }

  #decidePart(frame: RuleFrame, n: number): PartOutcome | undefined {
    const subject = frame.subjects[n]!
    const own = ownView(subject)
    const isAnswer = own !== subject
    let outcome: PartOutcome | undefined
    for (const state of this.#states) {
      const { rule } = state
      if (rule.answersOnly && !isAnswer) continue
      const holds = rule.when.test(rule.answersOnly ? subject : own)
      if (holds === false || (holds === true && !isNext(state))) continue
      const now: PartOutcome = outcome ?? {
        text: textOf(frame, n),
        names: [],
        delayMs: 0,
        copies: 0,
        end: undefined,
      }
      const problem = holds === undefined ? 'its filter takes too long to evaluate on the message' : undefined
      if (!applyAction(rule, now, subject, problem, state.random)) continue
      state.applied += 1
      outcome = now
      if (now.end) break
    }
    const isGone = outcome?.end !== undefined && outcome.end.kind !== 'hold'
    if (outcome && !isGone && outcome.text !== textOf(frame, n))
      checkChanged(outcome, subject, frame.refusal?.(n, outcome.text))
    return outcome
  }
}

/** Counts a matching message; returns whether the rule is applied to it. */
function isNext(state: RuleState): boolean {
  const { rule } = state
  state.matched += 1
  if (rule.times !== undefined && state.applied >= rule.times) return false
  if (rule.every !== undefined && state.matched % rule.every !== 0) return false
  return rule.probability === undefined || state.random() < rule.probability
}

export function decisionOf(frame: RuleFrame, outcomes: readonly (PartOutcome | undefined)[]): Decision {
  const touched = outcomes.filter((outcome) => outcome !== undefined)
  const ends = new Set(touched.map(({ end }) => end?.kind))
  const answers = touched.flatMap(({ end }) => (end?.kind === 'answer' ? [end.text] : []))
  const problems = touched.flatMap(({ problem }) => problem ?? [])
  const names = [...new Set(touched.flatMap((outcome) => outcome.names))]
  const isLost = (i: number): boolean => {
    const kind = outcomes[i]?.end?.kind
    return kind === 'drop' || kind === 'answer'
  }
  const kept = [...frame.parts.keys()].filter((i) => !isLost(i))
  const text = frameText(frame, outcomes, kept)
  const isGone = text === undefined
  return {
    rule: names.join(', '),
    verdict: ends.has('disconnect')
      ? 'disconnect'
      : !isGone
        ? ends.has('hold')
          ? 'hold'
          : 'forward'
        : 'drop',
    text: text === frame.text ? undefined : text,
    kept: isGone || kept.length === frame.parts.length ? undefined : kept,
    delayMs: Math.max(...touched.map(({ delayMs }) => delayMs)),
    copies: boundedCopies(Math.max(...touched.map(({ copies }) => copies)), (text ?? frame.text).length),
    answers,
    why: problems.length > 0 ? problems.join('; ') : undefined,
  }
}

/** Limit for copies in characters: all are sent at once, and buffered for a slow receiver. */
const mostCopiedLength = 16 * 1024 * 1024

function boundedCopies(copies: number, length: number): number {
  return Math.min(copies, Math.max(1, Math.floor(mostCopiedLength / length)))
}

/** The text of the remaining messages; undefined if there are none. */
function frameText(
  frame: RuleFrame,
  outcomes: readonly (PartOutcome | undefined)[],
  kept: readonly number[],
): string | undefined {
  const { text, batch, parts } = frame
  if (kept.length === 0) return undefined
  if (!batch || kept.length === parts.length) {
    return spliceText(
      text,
      parts.flatMap(({ start, end }, i) => {
        const outcome = outcomes[i]
        return outcome ? [{ start, end, text: outcome.text }] : []
      }),
    )
  }
  const texts = kept.map((i) => outcomes[i]?.text ?? textOf(frame, i))
  return `[${texts.join(',')}]`
}

function textOf({ text, parts }: RuleFrame, n: number): string {
  return text.slice(parts[n]!.start, parts[n]!.end)
}
