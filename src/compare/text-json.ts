import {
  decodeString,
  elementsOf,
  jsonIn,
  kindAt,
  skipValue,
  spliceText,
  type TextEdit,
} from '../wire/index.js'
import { deepest, lastMembers } from './canonical-json.js'

/**
 * Servers put JSON into the `text` of content blocks and resources. Returns the position of an object or array in such
 * a text, else undefined.
 *
 * @param text decoded
 */
export function jsonInText(text: string): number | undefined {
  // The first character excludes most texts, which are prose.
  const first = /^\s*[[{]/.exec(text)
  if (!first) return undefined
  const span = jsonIn(text)
  if (!span) return undefined
  const kind = kindAt(text, span.start)
  return kind === 'object' || kind === 'array' ? span.start : undefined
}

/** The member that may hold JSON as text. */
export const textMember = 'text'

/**
 * The text with JSON in place of strings in `text` members that contain some, recursively: gateways pass on another
 * server's response as text.
 *
 * @param levels limit for JSON nested in JSON
 */
export function withJsonInTexts(text: string, levels = deepest): string {
  const edits: TextEdit[] = []
  function visit(start: number, depth: number): void {
    const kind = kindAt(text, start)
    if (depth === deepest) return
    if (kind === 'array') for (const element of elementsOf(text, start)) visit(element.start, depth + 1)
    if (kind !== 'object') return
    for (const member of lastMembers(text, start)) {
      if (member.name !== textMember || kindAt(text, member.start) !== 'string') {
        visit(member.start, depth + 1)
        continue
      }
      const inner = decodeString(text, member.start, member.end)
      const from = jsonInText(inner)
      if (from === undefined) continue
      const json = inner.slice(from, skipValue(inner, from))
      const whole = levels > 1 ? withJsonInTexts(json, levels - 1) : json
      edits.push({ start: member.start, end: member.end, text: whole })
    }
  }
  visit(0, 0)
  return spliceText(
    text,
    edits.toSorted((a, b) => a.start - b.start),
  )
}
