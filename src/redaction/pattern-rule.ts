import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'
import type { Span } from '../wire/index.js'
import { RuleFault } from './rule-fault.js'
import type { TextRule } from './text-redactor.js'

export const longestPattern = 2000
const largestProgram = 20_000

/**
 * How often each character may be read again, since the search begins anew behind each match and a pattern without
 * bounds can reach far every time. Some 500 matches in one string.
 */
const readAgain = 256
const readAgainAtLeast = 1024 * 1024

/** Compiled for an engine that takes linear time. Throws RuleFault. */
export function compilePattern(pattern: string, ignoreCase: boolean): RE2JS {
  if (pattern.length > longestPattern) {
    throw new RuleFault(`is longer than ${longestPattern} characters`, 'split it into several rules')
  }
  const compiled = compile(pattern, ignoreCase)
  if (compiled.programSize() > largestProgram) {
    throw new RuleFault('repeats too much', 'use smaller counts in {…}')
  }
  return compiled
}

function compile(pattern: string, ignoreCase: boolean): RE2JS {
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0)
  } catch (problem) {
    if (!(problem instanceof RE2JSException)) throw problem
    const advice = 'write it as RE2 has it: no look-around, no back references'
    if (!(problem instanceof RE2JSSyntaxException)) throw new RuleFault('is no regular expression', advice)
    const { error, input } = problem
    // The engine names the piece that is wrong, or all of the pattern when it broke off.
    const at = input === null || input === pattern ? pattern.length : pattern.indexOf(input)
    throw new RuleFault(`is no regular expression: ${error}`, advice, at < 0 ? undefined : at + 1)
  }
}

/** A rule that takes out whatever matches. Throws RuleFault. */
export function compilePatternRule(name: string, pattern: string, ignoreCase: boolean): TextRule {
  const compiled = compilePattern(pattern, ignoreCase)
  const bounded = !/[*+]|\{\d+,\}/.test(pattern)
  return {
    kind: 'text',
    name,
    find: (text) =>
      matchesIn(compiled, text, bounded ? Infinity : readAgainAtLeast + readAgain * text.length),
  }
}

/** Matches of nothing are passed over. When too much would be read again, the rest of the text is taken out. */
function matchesIn(compiled: RE2JS, text: string, budget: number): readonly Span[] {
  if (!compiled.test(text)) return []
  const found: Span[] = []
  const matcher = compiled.matcher(text)
  let left = budget
  while (matcher.find()) {
    const start = matcher.start()
    const end = matcher.end()
    if (end > start) found.push({ start, end })
    left -= text.length - end
    if (left < 0 && end < text.length) {
      found.push({ start: end, end: text.length })
      break
    }
  }
  return found
}
