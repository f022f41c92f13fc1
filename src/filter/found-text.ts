import { compilePattern } from '../json-path/index.js'
import type { Condition, TextTest } from './condition.js'
import { withoutEscapes } from './text-match.js'

/** Position of a filter's match in a text. */
export interface FoundText {
  /** The searched text: a JSON text as written, or with its escapes decoded. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Finds the part of a text that made a filter match; undefined if another condition did. */
export type FindText = (text: string) => FoundText | undefined

export function compileFindText(condition: Condition): FindText {
  const finders = testsIn(condition).map(finderOf)
  return (text) => {
    for (const find of finders) {
      const place = find(text)
      if (place) return { text, ...place }
    }
    if (finders.length === 0 || !text.includes('\\')) return undefined
    const plain = withoutEscapes(text)
    for (const find of finders) {
      const place = find(plain)
      if (place) return { text: plain, ...place }
    }
    return undefined
  }
}

/** The texts that must occur; negated ones are omitted. */
function testsIn(condition: Condition): readonly TextTest[] {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return condition.of.flatMap(testsIn)
    case 'word':
    case 'text':
      return [condition.test]
    case 'path':
      if (condition.test.how === 'text') return [condition.test.test]
      if (condition.test.how !== 'compare' || condition.test.operator !== '=') return []
      return [{ how: 'contains', text: String(condition.test.value) }]
    default:
      return []
  }
}

type FindPlace = (text: string) => { readonly start: number; readonly end: number } | undefined

function finderOf({ how, text, ignoreCase = false }: TextTest): FindPlace {
  if (how === 'pattern') {
    const pattern = compilePattern(text, ignoreCase)
    return (other) => {
      const matcher = pattern.matcher(other)
      return matcher.find() ? { start: matcher.start(), end: matcher.end() } : undefined
    }
  }
  const pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`), 'i')
  return (other) => {
    const found = pattern.exec(other)
    return found ? { start: found.index, end: found.index + found[0].length } : undefined
  }
}
