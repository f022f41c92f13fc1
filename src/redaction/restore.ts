import type { Span, TextEdit } from '../wire/index.js'
import { marker } from './marker.js'

/**
 * Replaces redacted parts of one string with values: the whole string, or the markers in it, which have the order of
 * their tags.
 *
 * @param span the string in the text
 * @param secret the value for a tag as exact JSON text; where undefined, the marker stays
 */
export function restoreEdits(
  text: string,
  span: Span,
  tags: readonly string[],
  secret: (tag: string) => string | undefined,
): { readonly edits: TextEdit[]; readonly isMissing: boolean } {
  const edits: TextEdit[] = []
  let isMissing = false
  let from = span.start
  for (const tag of tags) {
    const value = secret(tag)
    if (value === undefined) isMissing = true
    const start = text.indexOf(marker, from)
    if (start < 0 || start >= span.end) continue
    from = start + marker.length
    if (value === undefined) continue
    const isWhole = span.end - span.start === marker.length + 2
    if (isWhole) edits.push({ start: span.start, end: span.end, text: value })
    else if (value.startsWith('"')) edits.push({ start, end: from, text: value.slice(1, -1) })
    else if (/^[-\d]/.test(value)) edits.push({ start, end: from, text: value })
    else isMissing = true
  }
  return { edits, isMissing }
}
