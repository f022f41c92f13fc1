import { compileCondition } from './compile.js'
import type { Condition } from './condition.js'
import { nameFields, numberFields, type FieldSource } from './fields.js'
import type { FilterSubject } from './subject.js'

/**
 * The filter's outcome as far as a row's columns determine it, without the message text; else undefined.
 *
 * @param isNamed whether the method and the name of the subject are known
 */
export type Guess = (subject: FilterSubject, isNamed: boolean) => boolean | undefined

/** For rows of messages only. */
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

/** @param decisive the outcome of a single condition that decides the whole */
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
