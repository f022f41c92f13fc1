import { compileCondition } from './compile.js'
import type { Condition } from './condition.js'
import { nameFields, numberFields, type FieldSource } from './fields.js'
import type { FilterSubject } from './subject.js'

/**
 * What the columns of a row tell about a filter, without the text of its message: undefined where they do not.
 *
 * @param isNamed whether the method and the name of the subject are known
 */
export type Guess = (subject: FilterSubject, isNamed: boolean) => boolean | undefined

/** Only for rows that are messages. */
export function compileGuess(condition: Condition): Guess {
  switch (condition.kind) {
    case 'all':
      return joined(condition.of.map(compileGuess), false)
    case 'any':
      return joined(condition.of.map(compileGuess), true)
    case 'not': {
      const guess = compileGuess(condition.of)
      return (subject, isNamed) => {
        const found = guess(subject, isNamed)
        return found === undefined ? undefined : !found
      }
    }
    default: {
      const test = compileCondition(condition)
      switch (knownBy(condition)) {
        case 'columns':
          return test
        case 'names':
          return (subject, isNamed) => (isNamed ? test(subject) : undefined)
        case 'record':
          return () => undefined
      }
    }
  }
}

/** @param decisive what one of them has to be for the whole to be it */
function joined(guesses: readonly Guess[], decisive: boolean): Guess {
  return (subject, isNamed) => {
    let isSure = true
    for (const guess of guesses) {
      const found = guess(subject, isNamed)
      if (found === decisive) return decisive
      if (found === undefined) isSure = false
    }
    return isSure ? !decisive : undefined
  }
}

function knownBy(condition: Condition): FieldSource {
  switch (condition.kind) {
    case 'flag':
    case 'direction':
    case 'status':
    case 'finding':
    case 'level':
      return 'columns'
    case 'number':
      return numberFields[condition.field].from
    case 'name':
      return nameFields[condition.field].from
    default:
      return 'record'
  }
}
