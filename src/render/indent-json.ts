import { findJsonValue, isFault, skipValue } from '../wire/index.js'

/** Levels below this one are indented no further, so that deep text grows by a constant factor only. */
const MAX_INDENTED_LEVEL = 40

/** Characters; engines cannot hold strings much longer than twice this. */
const MAX_OUTPUT = 2 ** 28

/**
 * JSON text on many lines, for people. Only white space changes: numbers, escapes, duplicate members and
 * order stay as they are written. Text that is not JSON, and text whose indented form would exceed 256
 * million characters, is returned unchanged.
 *
 * @param indent spaces a level, 0 to 10
 * @default 2
 */
export function indentJson(text: string, indent = 2): string {
  const found = findJsonValue(text)
  if (isFault(found)) return text
  const breaks = lineBreaks(Math.min(10, Math.max(0, Math.trunc(indent) || 0)))
  const parts: string[] = []
  let size = 0
  let depth = 0
  let justOpened = false

  const write = (part: string): void => {
    parts.push(part)
    size += part.length
  }
  const breakLine = (): void => write(breaks[Math.min(depth, MAX_INDENTED_LEVEL)] ?? '\n')

  let pos = found.start
  while (pos < found.end) {
    if (size > MAX_OUTPUT) return text
    const char = text.charAt(pos)
    if (char === ' ' || char === '\n' || char === '\r' || char === '\t') {
      pos++
      continue
    }
    if (char === '}' || char === ']') {
      depth--
      if (!justOpened) breakLine()
      justOpened = false
      write(char)
      pos++
      continue
    }
    if (justOpened) breakLine()
    justOpened = char === '{' || char === '['
    if (justOpened) {
      depth++
      write(char)
      pos++
    } else if (char === ',') {
      write(char)
      breakLine()
      pos++
    } else if (char === ':') {
      write(': ')
      pos++
    } else {
      const end = skipValue(text, pos)
      write(text.slice(pos, end))
      pos = end
    }
  }
  return parts.join('')
}

function lineBreaks(width: number): string[] {
  return Array.from({ length: MAX_INDENTED_LEVEL + 1 }, (_, level) => '\n' + ' '.repeat(width * level))
}
