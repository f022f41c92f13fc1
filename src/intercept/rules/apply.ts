import type { FilterSubject } from '../../filter/index.js'
import { readEnvelope } from '../../wire/index.js'
import { otherShape } from '../message-shape.js'
import { RuleFailure } from './failure.js'
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
  /** The JSON text of the answer. */
  | { readonly kind: 'answer'; readonly text: string }

/**
 * Applies a rule to a message, and says whether it did anything. A rule that cannot be applied fails closed: the
 * message goes nowhere, and whoever sent a request gets an error that says so.
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
    outcome.problem = `rule ${rule.name} cannot be applied: ${failure.message}`
    outcome.end = failClosed(subject, outcome.problem)
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
        throw new RuleFailure('it is no request, so nobody can respond to it')
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
 */
export function checkChanged(outcome: PartOutcome, subject: FilterSubject): void {
  const { kind, problem } = readEnvelope(outcome.text, 0)
  const other = otherShape(subject.kind, kind)
  if (subject.kind === 'invalid' || other === undefined) return
  const words = kind === 'invalid' ? `it would be no JSON-RPC any more: ${problem ?? 'no message'}` : other
  outcome.problem = `rule ${outcome.names.join(', ')} cannot be applied: ${words}`
  outcome.end = failClosed(subject, outcome.problem)
}

function failClosed({ kind, id }: FilterSubject, problem: string): PartEnd {
  if (kind !== 'request' || id === null) return { kind: 'drop' }
  const error = JSON.stringify({ code: internalError, message: `wiretape: ${problem}` })
  return { kind: 'answer', text: answerText(id, 'error', error) }
}

/** JSON-RPC 2.0, section 5.1. */
const internalError = -32603

function answerText(id: string, member: 'result' | 'error', text: string): string {
  return `{"jsonrpc":"2.0","id":${id},"${member}":${text}}`
}
