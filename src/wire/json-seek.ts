/** Members of nested objects, found in one pass over the text. */
import { codeAt, decodeString, skipString, skipWhiteSpace } from './json-strings.js'
import { skipValue, type Member } from './json-text.js'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The members to find in an object, by name, and for nested objects the members inside. */
export interface Sought extends ReadonlyMap<string, Sought | null> {}

/** A member that was found. */
export interface Found extends Member {
  /** The found members inside, when the value is an object. Of a repeated name the last. */
  readonly members: readonly Found[] | undefined
}

/**
 * Trusted: finds members of the object at `start`; of a repeated name the last. Memory stays small however many
 * members the object has.
 */
export function seekMembers(text: string, start: number, sought: Sought): Found[] {
  const found: Found[] = []
  seek(text, start, sought, false, found)
  return found
}

/** Trusted: all members of the object at `start`, in text order, and the sought members inside them. */
export function seekInside(text: string, start: number, inside: Sought): Found[] {
  const found: Found[] = []
  seek(text, start, inside, true, found)
  return found
}

/** Index after the object. On invalid text it still ends, in linear time. */
function seek(text: string, start: number, sought: Sought, all: boolean, found: Found[]): number {
  if (codeAt(text, start) !== OPEN_OBJECT) return text.length
  let pos = start
  do {
    const nameStart = skipWhiteSpace(text, pos + 1)
    if (codeAt(text, nameStart) !== QUOTE) {
      pos = nameStart
      break
    }
    const nameEnd = skipString(text, nameStart)
    const colon = skipWhiteSpace(text, nameEnd)
    if (codeAt(text, colon) !== COLON) return text.length
    const valueStart = skipWhiteSpace(text, colon + 1)
    const name = decodeString(text, nameStart, nameEnd)
    const inner = sought.get(name)
    let end: number
    let members: Found[] | undefined
    if (inner && codeAt(text, valueStart) === OPEN_OBJECT) {
      members = []
      end = seek(text, valueStart, inner, false, members)
    } else {
      end = skipValue(text, valueStart)
    }
    if (all || inner !== undefined) {
      // One hidden class for all, because there are millions of these.
      const member: Found = { name, nameStart, nameEnd, start: valueStart, end, members }
      if (all) found.push(member)
      else put(found, member)
    }
    pos = skipWhiteSpace(text, end)
  } while (codeAt(text, pos) === COMMA)
  return codeAt(text, pos) === CLOSE_OBJECT ? pos + 1 : text.length
}

function put(found: Found[], member: Found): void {
  for (let i = 0; i < found.length; i += 1) {
    if (found[i]!.name === member.name) {
      found[i] = member
      return
    }
  }
  found.push(member)
}
