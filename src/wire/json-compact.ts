import { skipString } from './json-strings.js'

/**
 * A checked JSON text on one line. A text with line breaks loses all white space between its tokens; any
 * other stays unchanged.
 */
export function onOneLine(text: string): string {
  if (!text.includes('\n') && !text.includes('\r')) return text
  const parts: string[] = []
  let from = 0
  let pos = 0
  while (pos < text.length) {
    const code = text.charCodeAt(pos)
    if (code === 0x22) {
      pos = skipString(text, pos)
    } else if (code > 0x20) {
      pos += 1
    } else {
      if (pos > from) parts.push(text.slice(from, pos))
      while (pos < text.length && text.charCodeAt(pos) <= 0x20) pos += 1
      from = pos
    }
  }
  parts.push(text.slice(from))
  return parts.join('')
}
