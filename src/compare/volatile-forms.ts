import { epochForm, momentForms } from './moments.js'

/** Values that a server generates on each run, recognised by their form. */
export type VolatileForm =
  | 'timestamp'
  | 'uuid'
  | 'id'
  | 'commit'
  | 'path'
  | 'port'
  | 'process id'
  | 'duration'
  | 'size'

/** A piece of a text. */
export interface Piece {
  /** Absent for text in between. */
  readonly form?: VolatileForm
  readonly text: string
  readonly start: number
}

const unit = String.raw`(?:ns|[µμu]s|ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?)`

/** In the order of trial at one place. */
const forms: readonly (readonly [VolatileForm, string])[] = [
  [
    'path',
    String.raw`(?:(?:/private)?(?:/var)?/tmp|/var/folders|[A-Za-z]:\\[^\s"'<>|]*?\\Temp)[/\\][^\s"'<>|:;,()[\]{}${'`'}]+`,
  ],
  ['uuid', String.raw`(?<![0-9a-fA-F])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9a-fA-F])`],
  ['id', String.raw`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`],
  ...momentForms.map((form) => ['timestamp', form] as const),
  ['timestamp', epochForm],
  ['process id', String.raw`(?<=\b(?:[Pp][Ii][Dd]|[Pp]rocess(?: [Ii][Dd])?)["'*]*[ :=#(]{1,3})\d{1,10}\b`],
  ['port', String.raw`(?<=(?:localhost|127\.0\.0\.1|0\.0\.0\.0|::1?\]|\b[Pp]ort)[ :=]{1,2})\d{4,5}\b`],
  ['duration', String.raw`(?<![\w.])\d+(?:\.\d+)? ?${unit}(?: \d+(?:\.\d+)? ?${unit})*(?!\w)`],
  ['size', String.raw`(?<![\w.])\d+(?:\.\d+)? ?(?:[KMGT]i?)?(?:B|bytes|%)(?!\w)`],
  ['commit', String.raw`\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b`],
]

const names = forms.map(([name]) => name)
const anyForm = new RegExp(
  forms.map(([, form], i) => `(?<f${i}>${withoutBackReference(form, i)})`).join('|'),
  'gu',
)

/** By number, `\1` would count the groups of all forms. */
function withoutBackReference(form: string, i: number): string {
  return form.replace('([/.])', `(?<sep${i}>[/.])`).replace(String.raw`\1`, String.raw`\k<sep${i}>`)
}

/** Longer texts are compared exactly. */
const longestText = 200_000

/** The text split into pieces; every second one, from the second on, has a form. */
export function volatilePieces(text: string): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  if (text.length <= longestText && /\d/.test(text))
    for (const match of text.matchAll(anyForm)) {
      const { index, groups = {} } = match
      const form = names.find((_, i) => groups[`f${i}`] !== undefined)
      if (form === undefined) continue
      pieces.push({ text: text.slice(end, index), start: end }, { form, text: match[0], start: index })
      end = index + match[0].length
    }
  return [...pieces, { text: text.slice(end), start: end }]
}

const unitMs: Readonly<Record<string, number>> = {
  n: 1e-6,
  u: 1e-3,
  '\u00b5': 1e-3,
  '\u03bc': 1e-3,
  ms: 1,
  milli: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Parses `1m 2.5s` to milliseconds. */
export function readDuration(text: string): number {
  let sum = 0
  for (const [, number = '', name = ''] of text.matchAll(/(\d+(?:\.\d+)?) ?([a-zµμ]+)/g)) {
    const key = /^ms|^milli/.test(name) ? 'ms' : name.charAt(0)
    sum += Number(number) * (unitMs[key] ?? NaN)
  }
  return sum
}
