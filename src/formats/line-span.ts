import { findJsonValue } from '../wire/index.js'

/** Longer lines are checked without building their value. */
const longestParsed = 1 << 20

/**
 * As `findJsonValue`, for a line; the engine's own parser validates the JSON sooner. Measured: a third of the time.
 *
 * @param checked the line is known to be JSON
 * @returns with the value of the whole line, where it was parsed
 */
export function lineSpan(
  text: string,
  checked: boolean,
): ReturnType<typeof findJsonValue> & { readonly value?: unknown } {
  const isBare = text.startsWith('{') && text.endsWith('}')
  if (checked && isBare) return { start: 0, end: text.length }
  if (text.length > longestParsed || !isBare) return findJsonValue(text)
  try {
    return { start: 0, end: text.length, value: JSON.parse(text) as unknown }
  } catch {
    return findJsonValue(text)
  }
}
