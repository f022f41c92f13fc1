import { elementsOf, kindAt, membersOf, type Span } from '../wire/index.js'

/**
 * How an object or array is written, without the values in it: names, order, repeated members, white space. The
 * values of other kinds are all spelling.
 */
export function spellingOf(text: string, { start, end }: Span): string {
  const kind = kindAt(text, start)
  if (kind !== 'object' && kind !== 'array') return text.slice(start, end)
  const members = kind === 'object' ? membersOf(text, start) : []
  // Of repeated members only the last is compared, so the others are spelling too.
  if (new Set(members.map(({ name }) => name)).size < members.length) return text.slice(start, end)
  let spelling = ''
  let from = start
  for (const value of kind === 'object' ? members : elementsOf(text, start)) {
    spelling += text.slice(from, value.start)
    from = value.end
  }
  return spelling + text.slice(from, end)
}
