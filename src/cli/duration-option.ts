import { durationForms, parseDuration } from '../model/index.js'

/** Longest timer delay. */
const longestMs = 2 ** 31 - 1

/**
 * Milliseconds of an option such as `--hold-timeout 30s`.
 *
 * @throws Error with a readable message
 */
export function parseTimeout(text: string): number {
  const ms = Math.round(parseDuration(text) ?? 0)
  if (ms < 1 || ms > longestMs) throw new Error(`Use a time such as ${durationForms}.`)
  return ms
}
