import { forEachMember, kindAt, partsOf, skipString, type Span } from '../wire/index.js'
import { mostMarks } from './finding.js'
import type { WholeValue } from './json-redactor.js'

/** Maximum number of levels that are searched; deeper values are replaced as a whole. */
const deepestLevel = 20_000
const rule = 'too-deep'

/**
 * The values to replace as a whole because a message is nested too deep: its members (`params`, `result`, `error`)
 * that are; a message that is not an object, entirely. By their start.
 */
export function findTooDeep(text: string): Map<number, WholeValue> {
  const whole = new Map<number, WholeValue>()
  const all = { start: 0, end: text.length }
  if (!isDeeper(text, all, deepestLevel)) return whole
  // A batch is one level more.
  for (const message of partsOf(text).parts) {
    if (!isDeeper(text, message, deepestLevel)) continue
    const take = ({ start, end }: Span): void => {
      if (isDeeper(text, { start, end }, deepestLevel - 1)) whole.set(start, { end, rule })
    }
    if (kindAt(text, message.start) === 'object') forEachMember(text, message.start, take)
    else take(message)
  }
  return whole
}

/** Whether a member of a message holds its payload. */
export function isPayload(name: string): boolean {
  return name === 'params' || name === 'result' || name === 'error'
}

/**
 * The values to replace as a whole because a frame has too many secrets to redact one by one: `params`, `result`
 * and `error` of its messages, including repeated ones; a message that is not an object, entirely. By their start.
 */
export function payloadsOf(text: string, rule: string): Map<number, WholeValue> {
  const whole = new Map<number, WholeValue>()
  for (const message of partsOf(text).parts) {
    if (kindAt(text, message.start) !== 'object') whole.set(message.start, { end: message.end, rule })
    else
      forEachMember(text, message.start, ({ name, start, end }) => {
        // One more than the limit: then the entire frame is replaced.
        if (isPayload(name) && whole.size <= mostMarks) whole.set(start, { end, rule })
      })
  }
  return whole
}

/** The messages of a frame, each as a whole. By their start. */
export function messagesOf(text: string, rule: string): Map<number, WholeValue> {
  return new Map(partsOf(text).parts.map(({ start, end }) => [start, { end, rule }]))
}

/** Each level takes two characters, so short texts need not be read. */
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
