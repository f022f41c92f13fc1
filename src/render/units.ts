/** `812 B`, `1.2 kB`, `34 MB`: decimal units, two significant digits at least. */
export function formatBytes(sizeBytes: number): string {
  return scaled(sizeBytes, 1000, ['B', 'kB', 'MB', 'GB', 'TB'])
}

/** `0.4 ms`, `12 ms`, `1.2 s`, `3m 20s`. */
export function formatDuration(us: number): string {
  const ms = us / 1000
  if (ms < 1000) return `${significant(ms)} ms`
  if (ms < 100_000) return `${significant(ms / 1000)} s`
  const seconds = Math.round(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  return minutes < 60 ? `${minutes}m ${seconds % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

/** Seconds since the session began, in milliseconds: `12.345`. */
export function formatOffset(us: number): string {
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

function scaled(value: number, step: number, units: readonly string[]): string {
  let unit = 0
  let rest = value
  while (rest >= step && unit < units.length - 1) {
    rest /= step
    unit += 1
  }
  return `${unit === 0 ? String(rest) : significant(rest)} ${units[unit]}`
}

function significant(value: number): string {
  return value < 10 ? value.toFixed(1) : String(Math.round(value))
}
