import { durationForms, parseDuration } from '../model/index.js'

/** The longest delay of a timer. */
const longestMs = 2 ** 31 - 1

/**
 * Milliseconds of an option such as `--hold-timeout 30s`.
 *
 * @throws Error with a sentence for a person
 */
export function parseTimeout(text: string): number {
  const ms = Math.round(parseDuration(text) ?? 0)
  if (ms < 1 || ms > longestMs) throw new Error(`It is a time such as ${durationForms}.`)
  return ms
}
