import { parseFilter, type Filter } from '../filter/index.js'
import { WiretapeError, type Fold } from '../model/index.js'

/**
 * Parses the filter of an option.
 *
 * @param nowMs base of `since:10m`
 * @param option name for the user
 * @param findings `refused` if no rules are run
 * @throws WiretapeError `usage`, with the column
 */
export function filterOption(
  text: string,
  nowMs?: number,
  option = '--filter',
  findings: 'allowed' | 'refused' = 'allowed',
): Filter {
  const { filter, fault } = parseFilter(text, { findings, ...(nowMs !== undefined && { nowMs }) })
  if (filter) return filter
  throw new WiretapeError('usage', `${option}, column ${fault.column}: ${fault.message}`)
}

/** Time of the last event in recordings, in milliseconds since 1970; undefined if unknown. */
export function lastMomentOf(folds: readonly Fold[]): number | undefined {
  const moments = folds.map(({ entries, sessions }) => {
    const started = Date.parse(sessions.at(-1)?.startedAt ?? '')
    return entries.length === 0 ? started : started + entries.us(entries.length - 1) / 1000
  })
  const known = moments.filter((ms) => !Number.isNaN(ms))
  return known.length === 0 ? undefined : Math.max(...known)
}
