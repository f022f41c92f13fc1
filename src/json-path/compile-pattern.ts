import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'
import { QueryFault } from './query-fault.js'

const longestPattern = 2000
const largestProgram = 20_000

/** Compiles a regular expression for an engine that takes linear time. Throws QueryFault. */
export function compilePattern(pattern: string, ignoreCase: boolean): RE2JS {
  if (pattern.length > longestPattern) {
    throw new QueryFault(`is longer than ${longestPattern} characters`, 'split it into several')
  }
  const compiled = compile(pattern, ignoreCase)
  if (compiled.programSize() > largestProgram) {
    throw new QueryFault('has too many repetitions', 'use smaller counts in {…}')
  }
  return compiled
}

function compile(pattern: string, ignoreCase: boolean): RE2JS {
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
  } catch (problem) {
    if (!(problem instanceof RE2JSException)) throw problem
    const advice = 'use RE2 syntax, without lookaround and backreferences'
    if (!(problem instanceof RE2JSSyntaxException))
      throw new QueryFault('is not a regular expression', advice)
    const { error, input } = problem
    // The engine reports the faulty piece, or the whole pattern when it ended early.
    const at = input === null || input === pattern ? pattern.length : pattern.indexOf(input)
    throw new QueryFault(`is not a regular expression: ${error}`, advice, at < 0 ? undefined : at + 1)
  }
}
