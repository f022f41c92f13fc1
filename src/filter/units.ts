import { parseDuration } from '../model/index.js'

/** Decimal units, as in all output; letter case is ignored. */
const sizes: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ['k', 1e3],
  ['kb', 1e3],
  ['m', 1e6],
  ['mb', 1e6],
  ['g', 1e9],
  ['gb', 1e9],
  ['kib', 1024],
  ['mib', 1024 ** 2],
  ['gib', 1024 ** 3],
])

/** Parses a number and its unit, in milliseconds or bytes; undefined if it is invalid. */
export function parseAmount(
  text: string,
  unit: 'none' | 'duration' | 'size' | 'integer',
): number | undefined {
  if (unit === 'duration') return parseDuration(text)
  const match = /^(-?\d{1,15}(?:\.\d{1,15})?)([a-zµ]*)$/i.exec(text)
  if (!match) return undefined
  const [, digits = '', suffix = ''] = match
  const number = Number(digits)
  if (unit === 'integer') return suffix === '' && Number.isInteger(number) ? number : undefined
  if (unit === 'none') return suffix === '' ? number : undefined
  if (number < 0) return undefined
  const factor = sizes.get(suffix.toLowerCase())
  return factor === undefined ? undefined : number * factor
}

/**
 * Parses a date or time in ISO 8601 to milliseconds since 1970; in UTC if it has no offset, as times are shown. A
 * duration counts back from `nowMs`; `today` and `yesterday` begin at local midnight. Undefined if it is invalid.
 */
export function parseMoment(text: string, nowMs: number): number | undefined {
  const word = text.toLowerCase()
  if (word === 'today' || word === 'yesterday') {
    const now = new Date(nowMs)
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() - (word === 'today' ? 0 : 1)).getTime()
  }
  const ago = /^\d/.test(text) && !/^\d{4}-/.test(text) ? spanOf(text) : undefined
  if (ago !== undefined) return nowMs - ago
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/i.exec(
    text,
  )
  if (!match) return undefined
  const [, date = '', time = '00:00', zone = 'Z'] = match
  const day = Date.parse(date)
  const ms = Date.parse(`${date}T${time}${zone.toUpperCase()}`)
  // Date parses 30 February as a day in March.
  if (Number.isNaN(ms) || !new Date(day).toISOString().startsWith(date)) return undefined
  return ms
}

/** Parses a duration that includes its unit. */
function spanOf(text: string): number | undefined {
  return /[a-zµ]$/i.test(text) ? parseDuration(text) : undefined
}
