import type { RE2JS } from 're2js'
import { compilePattern } from '../json-path/index.js'
import type { Span } from '../wire/index.js'
import { mostMarks, TooManyMarks } from './finding.js'
import type { TextRule } from './text-redactor.js'

/**
 * How often each character may be reread: the search restarts after each match, and an unbounded pattern can reach
 * far every time. About 500 matches in one string.
 */
const readAgain = 256
const readAgainAtLeast = 1024 * 1024

/** A rule that redacts all matches. Throws QueryFault. */
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

/** Empty matches are skipped. If too much would be reread, the rest of the text is redacted. */
function matchesIn(compiled: RE2JS, text: string, budget: number): readonly Span[] {
  if (!compiled.test(text)) return []
  const found: Span[] = []
  const matcher = compiled.matcher(text)
  let left = budget
  while (matcher.find()) {
    const start = matcher.start()
    const end = matcher.end()
    if (end > start) found.push({ start, end })
    if (found.length > mostMarks) throw new TooManyMarks()
    left -= text.length - end
    if (left < 0 && end < text.length) {
      found.push({ start: end, end: text.length })
      break
    }
  }
  return found
}
