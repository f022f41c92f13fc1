/** Milliseconds per unit. A number without a unit is seconds, in options, filters and rules alike. */
const units: ReadonlyMap<string, number> = new Map([
  ['', 1000],
  ['us', 0.001],
  ['µs', 0.001],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** Syntax of durations, for help and errors. */
export const durationForms = '500ms, 5s or 2m; a bare number is seconds'

/** Milliseconds of `500ms`, `1.5s`, `10m`; a bare number is seconds. Undefined for anything else. */
export function parseDuration(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,15}(?:\.\d{1,15})?) ?([a-zµ]*)$/.exec(text) ?? []
  const factor = units.get(unit)
  return digits === '' || factor === undefined ? undefined : Number(digits) * factor
}
