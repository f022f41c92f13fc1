import {
  canonicalNumber,
  decodeString,
  elementsOf,
  kindAt,
  membersOf,
  skipString,
  skipValue,
  type Member,
  pointerStep,
} from '../wire/index.js'

/** Deeper values are compared by their exact text: prevents stack overflows on hostile input. */
export const deepest = 256

/**
 * Replacement for the value at a JSON Pointer: `''` to omit the value, undefined to keep it. If given, called for
 * every value of a text.
 */
export type Substitute = (pointer: string, text: string, start: number) => string | undefined

/**
 * One text for all spellings of a JSON value: members sorted by name, the last of repeated members, numbers in one
 * exact form (`1.0` is `1`), strings with only the necessary escapes, no white space.
 *
 * @param text accepted by `findJsonValue`
 * @param start where the value begins
 * @param at JSON Pointer of the value, for `substitute`
 */
export function canonicalJson(text: string, start: number, substitute?: Substitute, at = ''): string {
  return writeValue(text, start, substitute, at, 0)
}

function writeValue(
  text: string,
  start: number,
  substitute: Substitute | undefined,
  at: string,
  depth: number,
): string {
  const instead = substitute?.(at, text, start)
  if (instead !== undefined) return instead
  const kind = kindAt(text, start)
  if (kind === 'string') return JSON.stringify(decodeString(text, start, skipValue(text, start)))
  if (kind === 'number') return canonicalNumber(text.slice(start, skipValue(text, start)))
  if (kind !== 'object' && kind !== 'array')
    return kind === 'null' ? 'null' : text.charAt(start) === 't' ? 'true' : 'false'
  if (depth === deepest) return text.slice(start, skipValue(text, start))
  const inner = (step: string | number, from: number): string =>
    writeValue(text, from, substitute, substitute ? at + pointerStep(step) : '', depth + 1)
  const parts: string[] = []
  if (kind === 'array') {
    for (const [i, element] of elementsOf(text, start).entries()) {
      const part = inner(i, element.start)
      if (part !== '') parts.push(part)
    }
    return `[${parts.join(',')}]`
  }
  for (const { name, start: from } of lastMembers(text, start).toSorted(byName)) {
    const part = inner(name, from)
    if (part !== '') parts.push(`${JSON.stringify(name)}:${part}`)
  }
  return `{${parts.join(',')}}`
}

/** The effective members, in text order: the last one of each repeated name. */
export function lastMembers(text: string, start: number): Member[] {
  const members = membersOf(text, start)
  const names = new Set(members.map(({ name }) => name))
  if (names.size === members.length) return members
  const last = new Map<string, Member>()
  for (const member of members) {
    last.delete(member.name)
    last.set(member.name, member)
  }
  return [...last.values()]
}

function byName(a: Member, b: Member): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}

/** Whether a value is nested deeper than any legitimate one: parsed, it would overflow a recursive walk. */
export function isTooDeep(text: string): boolean {
  let depth = 0
  for (let pos = 0; pos < text.length;) {
    const code = text.charCodeAt(pos)
    if (code === 0x22) {
      pos = skipString(text, pos)
      continue
    }
    if (code === 0x5b || code === 0x7b) depth += 1
    else if (code === 0x5d || code === 0x7d) depth -= 1
    if (depth > deepest) return true
    pos += 1
  }
  return false
}
