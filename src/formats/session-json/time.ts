/** Microseconds since the epoch: the precision of session files, which exceeds that of a `Date`. */
const iso = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,30}))?([Zz]|[+-]\d\d(?::?\d\d)?)?$/
/** Years 1 to 9999, the range that other readers accept. */
const earliest = Date.parse('0001-01-01T00:00:00Z') * 1000
const latest = Date.parse('9999-12-31T00:00:00Z') * 1000

/** Start of the milliseconds in a tape's time: `2026-11-21T01:33:10.416Z`. */
const fractionStart = 20
const tapeTimeLength = 24
/** The last parsed second, and its microseconds: most messages are in the same second as the previous one. */
let lastSecond = ''
let lastSecondMicros = 0

/** The form of tapes; undefined for any other form, which may also be a valid time. */
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
 * As `messageTime`, for a message whose time on the tape is `t`: undefined unless both are equal to the millisecond.
 */
export function timestampOf(t: string, micros: number): string | undefined {
  const start = parseTapeTime(t)
  if (start === undefined || Math.floor(micros / 1000) !== start / 1000) return undefined
  const fraction = ((micros % 1_000_000) + 1_000_000) % 1_000_000
  const seconds = t.slice(0, fractionStart - 1)
  return fraction === 0 ? `${seconds}+00:00` : `${seconds}.${String(fraction).padStart(6, '0')}+00:00`
}

/** As `timestampOf` for a time in the form of tapes, which `isTime` compares without decoding it. */
export function quickTimestamp(
  micros: number,
  isTime: (second: string, ms: number) => boolean,
): string | undefined {
  const second = Math.floor(micros / 1_000_000)
  if (second !== writtenSecond) {
    if (!isWritable(micros)) return undefined
    writtenSecond = second
    writtenText = tapeTime(micros).slice(0, fractionStart)
  }
  const fraction = micros - second * 1_000_000
  if (!isTime(writtenText, Math.floor(fraction / 1000))) return undefined
  return fraction === 0
    ? `${writtenText.slice(0, -1)}+00:00`
    : `${writtenText}${String(fraction).padStart(6, '0')}+00:00`
}

/** The last written second, and its text up to the point. */
let writtenSecond = Number.NaN
let writtenText = ''

/** ISO 8601 in the form of session files; UTC without a zone. Undefined for anything else. */
export function parseMicros(text: string): number | undefined {
  const tapeMicros = parseTapeTime(text)
  if (tapeMicros !== undefined) return tapeMicros
  const match = iso.exec(text)
  if (!match) return undefined
  const [, date, time, seconds = ':00', fraction = '', zone = 'Z'] = match
  const local = `${date}T${time}${seconds}`
  const ms = Date.parse(`${local}Z`)
  // Date converts the 30th of February to a day in March.
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(local)) return undefined
  const micros = (ms - offsetMs(zone)) * 1000 + Number(fraction.slice(0, 6).padEnd(6, '0'))
  return isWritable(micros) ? micros : undefined
}

/** The time in `started_at` and `ended_at`: an ISO 8601 string, or a number of seconds since the epoch. */
export function parseMoment(json: string): number | undefined {
  if (json.startsWith('"')) return parseMicros(JSON.parse(json) as string)
  const number = /^[-\d]/.test(json) ? Number(json) : Number.NaN
  // As in the format's own reader: a number this large is in milliseconds.
  const micros = Math.round(Math.abs(number) > 2e10 ? number * 1e3 : number * 1e6)
  return isWritable(micros) ? micros : undefined
}

/** Whether the time is in the range that others can read. */
export function isWritable(micros: number): boolean {
  return micros >= earliest && micros <= latest
}

/** `2026-11-21T01:33:10.416879Z`; a fraction of 0 is omitted. */
export function sessionTime(micros: number): string {
  return `${secondsOf(micros)}Z`
}

/** `2026-11-21T01:33:10.417251+00:00`; a fraction of 0 is omitted. */
export function messageTime(micros: number): string {
  return `${secondsOf(micros)}+00:00`
}

/** The form of tapes: milliseconds and `Z`. */
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
