import { elementsOf, kindAt, membersOf, skipString, type Span } from '../wire/index.js'
import type { WholeValue } from './json-redactor.js'

/** Levels below which nothing is looked for: what is nested deeper goes whole. */
const deepestLevel = 20_000
const rule = 'too-deep'

/**
 * The values that go whole because a message is nested beyond all reason: the members of the message (`params`,
 * `result`, `error`) that are; a message that is no object, whole. By their start.
 */
export function findTooDeep(text: string): Map<number, WholeValue> {
  const whole = new Map<number, WholeValue>()
  const all = { start: 0, end: text.length }
  if (!isDeeper(text, all, deepestLevel)) return whole
  // A batch is one level more.
  for (const message of kindAt(text, 0) === 'array' ? elementsOf(text, 0) : [all]) {
    if (!isDeeper(text, message, deepestLevel)) continue
    const members = kindAt(text, message.start) === 'object' ? membersOf(text, message.start) : [message]
    for (const { start, end } of members) {
      if (isDeeper(text, { start, end }, deepestLevel - 1)) whole.set(start, { end, rule })
    }
  }
  return whole
}

/** Each level takes two characters, so a short text need not be read. */
function isDeeper(text: string, { start, end }: Span, limit: number): boolean {
  if (end - start <= 2 * limit) return false
  let depth = 0
  let pos = start
  while (pos < end) {
    const code = text.charCodeAt(pos)
    if (code === 0x22) {
      pos = skipString(text, pos)
      continue
    }
    if (code === 0x7b || code === 0x5b) {
      if (++depth > limit) return true
    } else if (code === 0x7d || code === 0x5d) depth--
    pos++
  }
  return false
}
