import {
  elementsOf,
  findJsonValue,
  isFault,
  kindAt,
  membersOf,
  type JsonKind,
  type Span,
} from './json-text.js'

/** The place of the JSON value in a text; undefined if the text is not JSON. */
export function jsonIn(text: string): Span | undefined {
  const found = findJsonValue(text)
  return isFault(found) ? undefined : found
}

/** As `jsonIn`, for an object. */
export function jsonObjectIn(text: string): Span | undefined {
  const found = jsonIn(text)
  return found && kindAt(text, found.start) === 'object' ? found : undefined
}

/** Deeper values are not visited. */
const deepest = 256

/** A value that is neither an object nor an array. */
export interface Scalar extends Span {
  readonly kind: Exclude<JsonKind, 'object' | 'array'>
  /** Name of the nearest member that contains it; empty without one. */
  readonly name: string
}

/** Trusted: visits the scalars in a JSON value, in text order. */
export function eachScalar(
  text: string,
  { start, end }: Span,
  visit: (scalar: Scalar) => void,
  name = '',
  depth = 0,
): void {
  const kind = kindAt(text, start)
  if (kind !== 'object' && kind !== 'array') return visit({ start, end, kind, name })
  if (depth === deepest) return
  if (kind === 'array')
    for (const element of elementsOf(text, start)) eachScalar(text, element, visit, name, depth + 1)
  else for (const member of membersOf(text, start)) eachScalar(text, member, visit, member.name, depth + 1)
}
