/** Longer texts are not checked. */
const longest = 4_000

const formats: Readonly<Record<string, readonly [pattern: RegExp, name: string]>> = {
  date: [/^\d{4}-\d\d-\d\d$/, 'a date such as 2026-08-01'],
  time: [/^\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$/i, 'a time such as 10:00:00Z'],
  'date-time': [
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i,
    'a date and time such as 2026-08-01T10:00:00Z',
  ],
  email: [/^[^\s@]+@[^\s@]+$/, 'an email address'],
  uri: [/^[a-z][a-z\d+.-]*:\S*$/i, 'a URI such as https://example.com'],
  uuid: [/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i, 'a UUID'],
}

/** The requirement of a format, in words; the format itself if it is not known here. */
export function formatWords(format: string): string {
  return (Object.hasOwn(formats, format) ? formats[format]?.[1] : undefined) ?? format
}

/** Why a text does not have a format; undefined for formats that are not known here. */
export function formatFault(format: string, text: string): string | undefined {
  const known = Object.hasOwn(formats, format) ? formats[format] : undefined
  if (!known || text.length > longest) return undefined
  const [pattern, name] = known
  const isDate = !format.startsWith('date') || !Number.isNaN(Date.parse(text))
  return pattern.test(text) && isDate ? undefined : `is not ${name}`
}
