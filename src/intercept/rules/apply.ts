import type { FilterSubject } from '../../filter/index.js'
import { readEnvelope } from '../../wire/index.js'
import { otherShape } from '../message-shape.js'
import { answerText, cannotApplyError, cannotApplyWords, RuleFailure } from './failure.js'
import { removePaths, replaceMatches, setValues } from './message-edits.js'
import type { Rule } from './rule.js'

/** The rules' changes to one message so far. */
export interface PartOutcome {
  text: string
  /** Applied rules. */
  readonly names: string[]
  delayMs: number
  copies: number
  /** Final decision of a rule; later rules are skipped. */
  end: PartEnd | undefined
  problem?: string
}

export type PartEnd =
  | { readonly kind: 'hold' | 'drop' | 'disconnect' }
  /** Replaced by an error. */
  | { readonly kind: 'error' }
  /** JSON text of the response. */
  | { readonly kind: 'answer'; readonly text: string }

/**
 * Applies a rule to a message; returns whether it had an effect. A rule that cannot be applied fails closed: none of
 * the message's content is forwarded, and a waiting requester gets an error with the reason.
 *
 * @param problem why the rule cannot be applied, if already known
 */
export function applyAction(
  rule: Rule,
  outcome: PartOutcome,
  subject: FilterSubject,
  problem: string | undefined,
  random: () => number,
): boolean {
  try {
    if (problem !== undefined) throw new RuleFailure(problem)
    if (!act(rule, outcome, subject, random)) return false
  } catch (failure) {
    if (!(failure instanceof RuleFailure)) throw failure
    failClosed(outcome, subject, rule.name, failure.message)
  }
  outcome.names.push(rule.name)
  return true
}

/** False if there was nothing to do. Throws RuleFailure. */
function act({ action }: Rule, outcome: PartOutcome, subject: FilterSubject, random: () => number): boolean {
  switch (action.kind) {
    case 'hold':
    case 'drop':
    case 'disconnect':
      outcome.end = { kind: action.kind }
      return true
    case 'delay':
      outcome.delayMs += action.leastMs
      // A fixed delay draws no random number.
      if (action.mostMs > action.leastMs)
        outcome.delayMs += Math.round(random() * (action.mostMs - action.leastMs))
      return true
    case 'duplicate':
      outcome.copies += action.copies
      return true
    case 'respond':
      if (subject.kind !== 'request' || subject.id === null)
        throw new RuleFailure('the message is not a request, so it cannot get a response')
      outcome.end = { kind: 'answer', text: answerText(subject.id, action.member, action.text) }
      return true
    case 'set':
      return change(outcome, setValues(outcome.text, action))
    case 'remove':
      return change(outcome, removePaths(outcome.text, action))
    case 'replace':
      return change(outcome, replaceMatches(outcome.text, action))
  }
}

function change(outcome: PartOutcome, text: string): boolean {
  if (text === outcome.text) return false
  outcome.text = text
  return true
}

/**
 * Rules may change a message's content, not its kind: a message that is no longer JSON-RPC, or of another kind,
 * fails closed.
 *
 * @param refusal another reason why the changed message cannot be forwarded
 */
export function checkChanged(outcome: PartOutcome, subject: FilterSubject, refusal?: string): void {
  if (subject.kind === 'invalid') return
  const { kind, problem } = readEnvelope(outcome.text, 0)
  const words =
    kind === 'invalid'
      ? `the message would no longer be JSON-RPC: ${problem ?? 'not a message'}`
      : (otherShape(subject.kind, kind) ?? refusal)
  if (words !== undefined) failClosed(outcome, subject, outcome.names.join(', '), words)
}

function failClosed(outcome: PartOutcome, subject: FilterSubject, rules: string, why: string): void {
  refuse(outcome, subject, cannotApplyWords(rules, why))
}

/**
 * Replaces a request or a response by an error with the same id; drops other messages.
 *
 * @param problem text of the error, and of the reason on the tape
 */
export function refuse(outcome: PartOutcome, { kind, id }: FilterSubject, problem: string): void {
  outcome.problem = problem
  if (id === null || (kind !== 'request' && kind !== 'result' && kind !== 'error')) {
    outcome.end = { kind: 'drop' }
    return
  }
  const text = cannotApplyError(id, problem)
  if (kind === 'request') {
    outcome.end = { kind: 'answer', text }
    return
  }
  outcome.text = text
  outcome.end = { kind: 'error' }
}
