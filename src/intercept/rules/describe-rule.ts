import { describeFilter } from '../../filter/index.js'
import type { Rule, RuleAction } from './rule.js'

/** A rule in words. Contains text of the rule's author: escape it for a terminal. */
export interface DescribedRule {
  readonly name: string
  /** The filter, as written. */
  readonly filter: string
  readonly when: string
  readonly does: string
}

export function describeRule({ name, when, answersOnly, action, ...often }: Rule): DescribedRule {
  const limits = [
    ...(often.every === undefined ? [] : [`every ${ordinal(often.every)}`]),
    ...(often.probability === undefined ? [] : [`with probability ${often.probability}`]),
    ...(often.times === undefined ? [] : [`at most ${often.times} ${often.times === 1 ? 'time' : 'times'}`]),
  ]
  return {
    name,
    filter: when.text,
    when: `${answersOnly ? 'answers: ' : ''}${describeFilter(when)}`,
    does: [actionWords(action), ...limits].join(', '),
  }
}

function actionWords(action: RuleAction): string {
  switch (action.kind) {
    case 'hold':
      return 'holds it for a person'
    case 'drop':
      return 'drops it'
    case 'disconnect':
      return 'closes the connection'
    case 'delay':
      return action.leastMs === action.mostMs
        ? `waits ${action.leastMs} ms`
        : `waits ${action.leastMs} to ${action.mostMs} ms`
    case 'duplicate':
      return action.copies === 1 ? 'sends it twice' : `sends it ${action.copies + 1} times`
    case 'set':
      return `sets ${action.values.map(({ path }) => path.text).join(', ')}`
    case 'remove':
      return `removes ${action.paths.map(({ text }) => text).join(', ')}`
    case 'replace':
      return `replaces /${action.pattern.pattern()}/${action.in ? ` in ${action.in.text}` : ''}`
    case 'respond':
      return action.member === 'error' ? 'responds with an error' : 'responds with a result'
  }
}

function ordinal(count: number): string {
  const last = count % 100 >= 11 && count % 100 <= 13 ? 0 : count % 10
  return `${count}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`
}
