import type { Condition } from '../../src/filter/index.js'

/** What tells quickly that the text of a row cannot matter. */
export interface Needles {
  /** Finds any of the words that the filter looks for. */
  readonly pattern: RegExp
  /** What hides a word from the pattern: escapes that could read as a part of it. */
  readonly escape: string
}

/**
 * The words that a filter looks for in texts; undefined when it looks into texts otherwise (patterns, paths). A row
 * in which none of them occurs, nor the escape, is to the filter as a row with an empty text.
 */
export function needlesOf(condition: Condition): Needles | undefined {
  const words = wordsOf(condition)
  if (!words || words.length === 0) return undefined
  const escaped = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
  // An escaped quote, slash, backslash or line break may be a part of the word; of others only \u is.
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
