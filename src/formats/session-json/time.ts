/** Microseconds since the epoch: what session files tell, and more than a `Date` holds. */
const iso = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,30}))?([Zz]|[+-]\d\d(?::?\d\d)?)?$/
/** Years 1 to 9999, which is what other readers take. */
const earliest = Date.parse('0001-01-01T00:00:00Z') * 1000
const latest = Date.parse('9999-12-31T00:00:00Z') * 1000

/** Where the milliseconds of a tape's time begin: `2026-11-21T01:33:10.416Z`. */
const fractionStart = 20
const tapeTimeLength = 24
/** The second that was parsed last, and its microseconds: most messages come in the same one as those before. */
let lastSecond = ''
let lastSecondMicros = 0

/** As tapes write it; undefined for any other form, which may be a time all the same. */
function parseTapeTime(text: string): number | undefined {
  if (text.length !== tapeTimeLength || text.charAt(tapeTimeLength - 1) !== 'Z') return undefined
  const second = text.slice(0, fractionStart)
  const fraction = text.slice(fractionStart, tapeTimeLength - 1)
  if (!/^\d{3}$/.test(fraction)) return undefined
  if (second !== lastSecond) {
    const start = Date.parse(`${second}000Z`)
    if (Number.isNaN(start) || new Date(start).toISOString() !== `${second}000Z`) return undefined
    if (!isWritable(start * 1000)) return undefined
    lastSecond = second
    lastSecondMicros = start * 1000
  }
  return lastSecondMicros + Number(fraction) * 1000
}

/**
 * As `messageTime`, of a message on a tape whose time is `t`: undefined unless it is that time to the millisecond, as a
 * tape has it.
 */
export function timestampOf(t: string, micros: number): string | undefined {
  const start = parseTapeTime(t)
  if (start === undefined || Math.floor(micros / 1000) !== start / 1000) return undefined
  const fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000
  const seconds = t.slice(0, fractionStart - 1)
  return fraction === 0 ? `${seconds}+00:00` : `${seconds}.${String(fraction).padStart(6, '0')}+00:00`
}

/** ISO 8601 as session files have it; without a zone it is UTC. Undefined for anything else. */
export function parseMicros(text: string): number | undefined {
  const tapeMicros = parseTapeTime(text)
  if (tapeMicros !== undefined) return tapeMicros
  const match = iso.exec(text)
  if (!match) return undefined
  const [, date, time, seconds = ':00', fraction = '', zone = 'Z'] = match
  const local = `${date}T${time}${seconds}`
  const ms = Date.parse(`${local}Z`)
  // Date takes the 30th of February for a day in March.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(local)) return undefined
  const micros = (ms - offsetMs(zone)) * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
  return isWritable(micros) ? micros : undefined
}

/** A moment as `started_at` and `ended_at` have it: an ISO 8601 string, or a number of seconds since the epoch. */
export function parseMoment(json: string): number | undefined {
  if (json.startsWith('"')) return parseMicros(JSON.parse(json) as string)
  const number = /^[-\d]/.test(json) ? Number(json) : Number.NaN
  // As the format's own reader takes it: a number this large is of milliseconds.
  const micros = Math.round(Math.abs(number) > 2e10 ? number * 1e3 : number * 1e6)
  return isWritable(micros) ? micros : undefined
}

/** Whether the time can be written so that others read it. */
export function isWritable(micros: number): boolean {
  return micros >= earliest && micros <= latest
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

function offsetMs(zone: string): number {
  const match = /^([+-])(\d\d):?(\d\d)?$/.exec(zone)
  if (!match) return 0
  const [, sign, hours, minutes = '0'] = match
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}

function secondsOf(micros: number): string {
  const seconds = new Date(Math.floor(micros / 1000)).toISOString().slice(0, 19)
  const fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000
  return fraction === 0 ? seconds : `${seconds}.${String(fraction).padStart(6, '0')}`
}
