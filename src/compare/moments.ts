/** A moment as written: all its possible readings, in milliseconds since 1970, as if in UTC. */
export interface TimeReading {
  readonly readings: readonly number[]
  /** Precision of the text, in milliseconds. */
  readonly grainMs: number
  /** Only the time of day is given. */
  readonly isTimeOfDay: boolean
}

const dayMs = 86_400_000
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const time = String.raw`\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:[ \u202f]?[AaPp]\.?[Mm]\b\.?)?`
const zone = String.raw`(?: ?(?:Z\b|UTC\b|GMT\b)?(?:[+-]\d\d:?\d\d)?(?: \([A-Z][A-Za-z ]+\))?)`
const weekday = String.raw`(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? )?`
const month = String.raw`\p{L}{3,12}\.?`

/** One alternative for each notation of a moment, longer ones first. */
export const momentForms: readonly string[] = [
  String.raw`\d{4}-\d\d-\d\d[T_ ]\d\d-\d\d-\d\d(?:[-.]\d{3,9})?Z?`,
  String.raw`\d{4}[-/]\d\d?[-/]\d\d?(?:T|,? )${time}${zone}`,
  String.raw`(?<!\d)20\d{6}[T_-]?\d{6}Z?(?!\d)`,
  String.raw`${weekday}\d{1,2}(?:\.|st|nd|rd|th)? (?:de )?${month} (?:de )?\d{4}(?:,? (?:at |um )?${time}${zone})?`,
  String.raw`${weekday}(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* +\d{1,2}(?:,? \d{4}(?:,? (?:at )?${time}${zone})?| ${time} \d{4}${zone})`,
  String.raw`(?<![\d.])\d{1,2}([/.])\d{1,2}\1\d{4}(?:,? ${time}${zone})?(?![\d.])`,
  String.raw`(?<!\d)\d{4}-\d\d-\d\d(?!\d)`,
  String.raw`(?<![\d:.])${time}(?![\d:])${zone}`,
]

/** Seconds, milliseconds, microseconds or nanoseconds since 1970, for the years 2001 to 2286. */
export const epochForm = String.raw`(?<![\d.])(?:\d{10}(?:\.\d+)?|\d{13}(?:\.\d+)?|\d{16}|\d{19})(?![\d.])`

/** Undefined if the text is not a moment after all. */
export function readMoment(text: string): TimeReading | undefined {
  if (/^\d{10}/.test(text) && !/^20\d{6}[T_-]?\d{6}Z?$/.test(text)) return readEpoch(text)
  const clock = readClock(text)
  const grainMs = clock?.grainMs ?? dayMs
  const days = readDays(text)
  if (days === undefined)
    return clock && { readings: [clock.ms], grainMs, isTimeOfDay: !/\d{4}[-/]|[-/.]\d{4}/.test(text) }
  const readings = days.filter((day) => !Number.isNaN(day)).map((day) => day + (clock?.ms ?? 0))
  return readings.length > 0 ? { readings, grainMs, isTimeOfDay: false } : undefined
}

function readEpoch(text: string): TimeReading | undefined {
  const whole = text.replace(/\..*/, '')
  const perMs = { 10: 1e-3, 13: 1, 16: 1e3, 19: 1e6 }[whole.length]
  if (perMs === undefined) return undefined
  return { readings: [Number(text) / perMs], grainMs: perMs < 1 ? 1_000 : 1, isTimeOfDay: false }
}

/** The time of day, less the offset from UTC. */
function readClock(text: string): { ms: number; grainMs: number } | undefined {
  const compact = /^20\d{6}[T_-]?(\d\d)(\d\d)(\d\d)/.exec(text)
  const dashed = /[T_ ](\d\d)-(\d\d)-(\d\d)(?:[-.](\d{3}))?/.exec(text)
  const plain = /(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?/.exec(text)
  const found = compact ?? dashed ?? plain
  if (!found) return undefined
  const [, hours = '', minutes = '', seconds, fraction] = found
  const half = plain && /[\d\u202f ]([AaPp])\.?[Mm]\b/.exec(text)?.[1]?.toLowerCase()
  const hour = half ? (Number(hours) % 12) + (half === 'p' ? 12 : 0) : Number(hours)
  const offset = plain && /([+-])(\d\d):?(\d\d)(?:\D|$)/.exec(text.slice(found.index + found[0].length))
  const offsetMs = offset
    ? Number(`${offset[1]!}1`) * (Number(offset[2]) * 60 + Number(offset[3])) * 60_000
    : 0
  const ms = (hour * 3_600 + Number(minutes) * 60 + Number(seconds ?? 0)) * 1_000
  const grainMs = seconds === undefined ? 60_000 : fraction === undefined ? 1_000 : 1
  return { ms: ms + Number(`0.${fraction ?? '0'}`) * 1_000 - offsetMs, grainMs }
}

/** Undefined if the text has no date. */
function readDays(text: string): number[] | undefined {
  const iso = /(\d{4})[-/](\d\d?)[-/](\d\d?)/.exec(text) ?? /^(20\d\d)(\d\d)(\d\d)/.exec(text)
  if (iso) return [dayOf(iso[1]!, Number(iso[2]), iso[3]!)]
  const numeric = /(\d{1,2})[/.](\d{1,2})[/.](\d{4})/.exec(text)
  // Day and month may stand in either order.
  if (numeric)
    return [
      dayOf(numeric[3]!, Number(numeric[2]), numeric[1]!),
      dayOf(numeric[3]!, Number(numeric[1]), numeric[2]!),
    ]
  const year = /(?<![\d:])\d{4}(?![\d:])/.exec(text.replaceAll(/[+-]\d{4}/g, ''))?.[0]
  const day = /(?<![\d:.])\d{1,2}(?![\d:])/.exec(text)?.[0]
  if (year === undefined || day === undefined) return undefined
  const names = [...text.toLowerCase().matchAll(/\p{L}{3,}/gu)].map(([name]) =>
    months.indexOf(name.slice(0, 3)),
  )
  const known = names.find((at) => at >= 0)
  // A name in another language may be any month.
  return known === undefined ? months.map((_, at) => dayOf(year, at + 1, day)) : [dayOf(year, known + 1, day)]
}

function dayOf(year: string, monthNumber: number, day: string): number {
  const [m, d] = [monthNumber, Number(day)]
  return m < 1 || m > 12 || d < 1 || d > 31 ? NaN : Date.UTC(Number(year), m - 1, d)
}

/** Allows for clock differences between machines, and for slow responses. */
const slackMs = 15 * 60_000

/**
 * Whether both moments have the same distance from the time of their run: a current time, or a deadline relative to
 * it. Without recorded times, any two moments match.
 */
export function movedWithClock(
  before: TimeReading,
  after: TimeReading,
  runs: { readonly beforeMs: number | undefined; readonly afterMs: number | undefined },
): boolean {
  if (before.isTimeOfDay !== after.isTimeOfDay) return false
  const { beforeMs, afterMs } = runs
  if (beforeMs === undefined || afterMs === undefined) return true
  const slack = slackMs + Math.max(before.grainMs, after.grainMs)
  return before.readings.some((old) =>
    after.readings.some((now) => {
      const apart = Math.abs(now - afterMs - (old - beforeMs))
      if (!before.isTimeOfDay) return apart <= slack
      const inDay = apart % dayMs
      return Math.min(inDay, dayMs - inDay) <= slack
    }),
  )
}
