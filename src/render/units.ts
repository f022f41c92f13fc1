/** `812 B`, `1.2 kB`, `34 MB`: decimal units, at least two significant digits. */
export function formatBytes(sizeBytes: number): string {
  let unit = 0
  let rest = sizeBytes
  // A value that rounds to 1000 belongs to the next unit.
  while (rest >= (unit === 0 ? 1000 : 999.5) && unit < byteUnits.length - 1) {
    rest /= 1000
    unit += 1
  }
  return `${unit === 0 ? String(rest) : significant(rest)} ${byteUnits[unit]}`
}

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB']

/** The result of `formatDuration` for an impossible duration. */
export const unknownDuration = 'unknown'

/** `0.4 ms`, `12 ms`, `1.2 s`, `3m 20s`; `unknown` if no clock can have measured it. */
export function formatDuration(us: number): string {
  if (us < 0 || !isTellable(us)) return unknownDuration
  const ms = us / 1000
  if (ms < 999.5) return `${significant(ms)} ms`
  if (ms < 99_500) return `${significant(ms / 1000)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

/** The wait that the latency of a server's response excludes: `plus 8.0 s waiting for the client`. */
export function waitedWords(us: number): string {
  return `plus ${formatDuration(us)} waiting for the client`
}

/** Microseconds; about thirty years. */
const longestTime = 1e15

/** False for a number that cannot be a measured time. */
export function isTellable(us: number): boolean {
  return Math.abs(us) < longestTime
}

/** Seconds since the session began, with milliseconds: `12.345`; `?` if no clock can have measured it. */
export function formatOffset(us: number): string {
  if (!isTellable(us)) return '?'
  return (us / 1e6).toFixed(3)
}

/** `1,234,567` */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** `1 request`, `2 requests` */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}

/** `9.4`, `12`: values below ten have one decimal. */
function significant(value: number): string {
  return value < 9.95 ? value.toFixed(1) : String(Math.round(value))
}
