import type { Condition } from '../../src/filter/index.js'

/** A quick test for rows whose text cannot match. */
export interface Needles {
  /** Matches any word that the filter searches for. */
  readonly pattern: RegExp
  /** The start of an escape that could hide part of a word from the pattern. */
  readonly escape: string
}

/**
 * The words that a filter searches for in texts; undefined if it searches them in other ways (patterns,
 * paths). For the filter, a row with neither a word nor the escape is equivalent to a row with an empty text.
 */
export function needlesOf(condition: Condition): Needles | undefined {
  const words = wordsOf(condition)
  if (!words || words.length === 0) return undefined
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  // In words with a quote, slash, backslash or line break, any escape may hide a part; in others, only \u.
  const simple = words.every((word) => !/["\\/\n\r\t\b\f]/.test(word))
  return { pattern: new RegExp(escaped.join('|'), 'gi'), escape: simple ? '\\u' : '\\' }
}

function wordsOf(condition: Condition): string[] | undefined {
  switch (condition.kind) {
    case 'all':
    case 'any': {
      const all: string[] = []
      for (const one of condition.of) {
        const words = wordsOf(one)
        if (!words) return undefined
        all.push(...words)
      }
      return all
    }
    case 'not':
      return wordsOf(condition.of)
    case 'text':
    case 'word':
      return condition.test.how === 'contains' && condition.test.text !== ''
        ? [condition.test.text]
        : undefined
    case 'path':
      return undefined
    default:
      return []
  }
}
