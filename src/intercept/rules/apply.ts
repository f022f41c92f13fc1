import type { FilterSubject } from '../../filter/index.js'
import { readEnvelope } from '../../wire/index.js'
import { otherShape } from '../message-shape.js'
import { answerText, cannotApplyError, cannotApplyWords, RuleFailure } from './failure.js'
import { removePaths, replaceMatches, setValues } from './message-edits.js'
import type { Rule } from './rule.js'

/** What rules made of one message so far. */
export interface PartOutcome {
  text: string
  /** Rules that were applied. */
  readonly names: string[]
  delayMs: number
  copies: number
  /** Set by a rule that decides about the message; rules behind it are not asked. */
  end: PartEnd | undefined
  problem?: string
}

export type PartEnd =
  | { readonly kind: 'hold' | 'drop' | 'disconnect' }
  /** It goes on as an error in its place. */
  | { readonly kind: 'error' }
  /** The JSON text of the answer. */
  | { readonly kind: 'answer'; readonly text: string }

/**
 * Applies a rule to a message, and says whether it did anything. A rule that cannot be applied fails closed: nothing
 * that the message says goes on, and whoever waits for an answer gets an error that says so.
 *
 * @param problem why the rule cannot be applied, where that is known beforehand
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

/** False when there was nothing to do. Throws RuleFailure. */
function act({ action }: Rule, outcome: PartOutcome, subject: FilterSubject, random: () => number): boolean {
  switch (action.kind) {
    case 'hold':
    case 'drop':
    case 'disconnect':
      outcome.end = { kind: action.kind }
      return true
    case 'delay':
      outcome.delayMs += action.leastMs
      // A fixed delay draws no number.
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
 * Rules may change what a message says, not that it is one: what is no JSON-RPC any more, or asks for nothing where
 * it asked for something, fails closed.
 *
 * @param refusal why it cannot go on as it is now, where that is known otherwise
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
 * What waits for an answer, here or at the other end, gets an error under the same id; anything else goes nowhere.
 *
 * @param problem what the error says, and the tape of what goes nowhere
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
