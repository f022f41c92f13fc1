/**
 * Exact JSON text, read in place. No values are built, so numbers, escapes, member order and duplicate
 * members stay unchanged. "Trusted" functions take text that `findJsonValue` has accepted, and check nothing
 * again. On other text they still end in linear time, but their results are meaningless, and decoding a
 * string may throw a SyntaxError.
 */
import type { Span } from './json-scan.js'
import { codeAt, decodeString, skipString, skipWhiteSpace } from './json-strings.js'

export { findJsonValue, isFault } from './json-scan.js'
export type { JsonFault, Span } from './json-scan.js'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** A member of an object: its name, and the positions of name and value. */
export interface Member {
  /** The decoded name. */
  readonly name: string
  /** The name as written, including its quotes. */
  readonly nameStart: number
  readonly nameEnd: number
  /** The value. */
  readonly start: number
  readonly end: number
}

/** Trusted: the kind of the value that starts at `start`. */
export function kindAt(text: string, start: number): JsonKind {
  switch (codeAt(text, start)) {
    case OPEN_OBJECT:
      return 'object'
    case OPEN_ARRAY:
      return 'array'
    case QUOTE:
      return 'string'
    case 0x74: // t
    case 0x66: // f
      return 'boolean'
    case 0x6e: // n
      return 'null'
    default:
      return 'number'
  }
}

/** Trusted: index after the value that starts at `start`. */
export function skipValue(text: string, start: number): number {
  const first = codeAt(text, start)
  if (first === QUOTE) return skipString(text, start)
  if (first !== OPEN_OBJECT && first !== OPEN_ARRAY) return skipPlain(text, start)
  let depth = 0
  let pos = start
  while (pos < text.length) {
    const code = text.charCodeAt(pos)
    if (code === QUOTE) {
      pos = skipString(text, pos)
      continue
    }
    pos++
    if (code < OPEN_ARRAY) continue
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++
    else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --depth === 0) return pos
  }
  return pos
}

/** Index after the number or literal: the first white space, comma or closing bracket. */
function skipPlain(text: string, pos: number): number {
  while (pos < text.length) {
    const code = text.charCodeAt(pos)
    if (code <= 0x20 || code === COMMA || code === CLOSE_ARRAY || code === CLOSE_OBJECT) return pos
    pos++
  }
  return pos
}

/** Trusted: the names of the first `most` members of the object that starts at `start`. */
export function memberNames(text: string, start: number, most: number): string[] {
  const names: string[] = []
  forEachMember(text, start, ({ name }) => {
    if (names.length < most) names.push(name)
  })
  return names
}

/** Trusted: the members of the object that starts at `start`, in text order, duplicates included. */
export function membersOf(text: string, start: number): Member[] {
  const members: Member[] = []
  forEachMember(text, start, (member) => members.push(member))
  return members
}

/** Trusted: like `membersOf`, one member at a time. An object with millions of members takes no memory. */
export function forEachMember(text: string, start: number, take: (member: Member) => void): void {
  if (codeAt(text, start) !== OPEN_OBJECT) return
  let pos = start
  do {
    const nameStart = skipWhiteSpace(text, pos + 1)
    if (codeAt(text, nameStart) !== QUOTE) break
    const nameEnd = skipString(text, nameStart)
    const colon = skipWhiteSpace(text, nameEnd)
    if (codeAt(text, colon) !== COLON) break
    const valueStart = skipWhiteSpace(text, colon + 1)
    const end = skipValue(text, valueStart)
    const name = decodeString(text, nameStart, nameEnd)
    take({ name, nameStart, nameEnd, start: valueStart, end })
    pos = skipWhiteSpace(text, end)
  } while (codeAt(text, pos) === COMMA)
}

/** The last member with that name, like `JSON.parse`; or undefined. */
export function memberOf<M extends Member>(members: readonly M[], name: string): M | undefined {
  for (let i = members.length - 1; i >= 0; i -= 1) {
    if (members[i]!.name === name) return members[i]
  }
  return undefined
}

/** Trusted: the first `most` elements of the array at `start`, in order. */
export function elementsOf(text: string, start: number, most = Infinity): Span[] {
  const elements: Span[] = []
  if (codeAt(text, start) !== OPEN_ARRAY) return elements
  let pos = start
  do {
    const elementStart = skipWhiteSpace(text, pos + 1)
    const end = skipValue(text, elementStart)
    if (end === elementStart) break
    elements.push({ start: elementStart, end })
    pos = skipWhiteSpace(text, end)
  } while (elements.length < most && codeAt(text, pos) === COMMA)
  return elements
}
