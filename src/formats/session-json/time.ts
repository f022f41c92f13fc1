/** Microseconds since the epoch: what session files tell, and more than a `Date` holds. */
const iso = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,30}))?(Z|[+-]\d\d:?\d\d)?$/

/** ISO 8601 as session files have it; without a zone it is UTC. Undefined for anything else. */
export function parseMicros(text: string): number | undefined {
  const match = iso.exec(text)
  if (!match) return undefined
  const [, date, time, fraction = '', zone = 'Z'] = match
  const ms = Date.parse(`${date}T${time}${zone}`)
  return Number.isNaN(ms) ? undefined : ms * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
}

/** `2026-11-21T01:33:10.416879Z`; the fraction is left out when it is 0. */
export function sessionTime(micros: number): string {
  return `${secondsOf(micros)}Z`
}

/** `2026-11-21T01:33:10.417251+00:00`; the fraction is left out when it is 0. */
export function messageTime(micros: number): string {
  return `${secondsOf(micros)}+00:00`
}

/** As a tape has it: milliseconds and `Z`. */
export function tapeTime(micros: number): string {
  return new Date(Math.floor(micros / 1000)).toISOString()
}

/** As `tapeTime`, but with microseconds where there are any. */
export function preciseTime(micros: number): string {
  return micros % 1000 === 0 ? tapeTime(micros) : sessionTime(micros)
}

function secondsOf(micros: number): string {
  const seconds = new Date(Math.floor(micros / 1000)).toISOString().slice(0, 19)
  const fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000
  return fraction === 0 ? seconds : `${seconds}.${String(fraction).padStart(6, '0')}`
}
