import { findJsonValue, isFault, kindAt } from '../wire/index.js'

/**
 * Servers put JSON into the `text` of content blocks and resources. Where such a text is an object or an
 * array, the place of the JSON is returned, else undefined.
 *
 * @param text decoded
 */
export function jsonInText(text: string): number | undefined {
  // A look at the first character: most texts are prose.
  const first = /^\s*[[{]/.exec(text)
  if (!first) return undefined
  const span = findJsonValue(text)
  if (isFault(span)) return undefined
  const kind = kindAt(text, span.start)
  return kind === 'object' || kind === 'array' ? span.start : undefined
}

/** The member that may hold JSON as text. */
export const textMember = 'text'
