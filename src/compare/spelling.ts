import { elementsOf, kindAt, membersOf, type Span } from '../wire/index.js'

/**
 * The spelling of an object or array without its values: names, order, repeated members, white space. Other
 * values are spelling as a whole.
 */
export function spellingOf(text: string, { start, end }: Span): string {
  const kind = kindAt(text, start)
  if (kind !== 'object' && kind !== 'array') return text.slice(start, end)
  const members = kind === 'object' ? membersOf(text, start) : []
  // Only the last of repeated members is compared, so the others count as spelling.
  if (new Set(members.map(({ name }) => name)).size < members.length) return text.slice(start, end)
  let spelling = ''
  let from = start
  for (const value of kind === 'object' ? members : elementsOf(text, start)) {
    spelling += text.slice(from, value.start)
    from = value.end
  }
  return spelling + text.slice(from, end)
}
