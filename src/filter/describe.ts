import type { Condition, Operator, PathTest, TextTest } from './condition.js'
import { numberFields } from './fields.js'
import type { Filter } from './filter.js'
import { flagWords } from './keys.js'

/** The parsed filter in words. Contains the user's text: escape it for a terminal. */
export function describeFilter({ condition }: Filter): string {
  return condition.kind === 'all' && condition.of.length === 0 ? 'everything' : wordsOf(condition)
}

function wordsOf(condition: Condition): string {
  switch (condition.kind) {
    case 'all':
      return condition.of.map(grouped).join(' and ')
    case 'any':
      return condition.of.map(grouped).join(' or ')
    case 'not':
      return `not ${grouped(condition.of)}`
    case 'flag':
      return flagWords.get(condition.flag) ?? condition.flag
    case 'direction':
      return condition.direction === 'client_to_server' ? 'from the client' : 'from the server'
    case 'transport':
      return `over ${condition.transport}`
    case 'status':
      return `ended with status ${condition.status}`
    case 'number':
      return numberWords(condition)
    case 'name':
      return `${condition.field} ${testWords(condition.test)}`
    case 'finding':
      return condition.test.how === 'glob' && condition.test.text === '*'
        ? 'has a finding'
        : `has a finding whose rule or pack ${testWords(condition.test)}`
    case 'level':
      return `has a finding of level ${condition.level}`
    case 'id':
      return `id is ${condition.id}`
    case 'text':
      return `the text ${testWords(condition.test)}`
    case 'word':
      return `method, name or text ${testWords(condition.test)}`
    case 'path':
      return `${condition.path.text} ${pathWords(condition.test)}`
  }
}

function grouped(condition: Condition): string {
  const words = wordsOf(condition)
  return condition.kind === 'all' || condition.kind === 'any' ? `(${words})` : words
}

function numberWords({ field, operator, shown }: Extract<Condition, { kind: 'number' }>): string {
  if (field === 'timeMs') {
    const moment = /^(?:\d{4}-|to|yes)/i.test(shown) ? shown : `${shown} ago`
    return operator === '<' ? `before ${moment}` : `since ${moment}`
  }
  return `${numberFields[field].words} ${operatorWords[operator]} ${shown}`
}

const operatorWords: Readonly<Record<Operator, string>> = {
  '=': 'is',
  '!=': 'is not',
  '<': 'below',
  '<=': 'at most',
  '>': 'above',
  '>=': 'at least',
}

function testWords({ how, text, ignoreCase }: TextTest): string {
  switch (how) {
    case 'exact':
      return `is ${text}`
    case 'glob':
      return `matches ${text}`
    case 'contains':
      return `has ${JSON.stringify(text)}`
    case 'pattern':
      return `matches /${text}/${ignoreCase ? 'i' : ''}`
  }
}

function pathWords(test: PathTest): string {
  if (test.how === 'exists') return 'exists'
  if (test.how === 'text') return testWords(test.test)
  return `${operatorWords[test.operator]} ${JSON.stringify(test.value)}`
}
