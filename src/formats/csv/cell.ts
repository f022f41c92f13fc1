/** RFC 4180. */
export function cell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  if (usual.test(value)) return value
  const text = harmless(value)
  if (text.includes('"')) return `"${text.replaceAll('"', '""')}"`
  return separators.test(text) ? `"${text}"` : text
}

/**
 * Spreadsheets execute text that begins like a formula, and peers may send hostile text: a leading apostrophe makes
 * it plain text. In lists separated by semicolons, spreadsheets ignore quotes after a comma; semicolons and line
 * breaks of the text then begin a cell, too.
 */
export function harmless(text: string): string {
  if (plainNumber.test(text)) return text
  const begun = formula.test(text) ? `'${text}` : text
  return cellBreak.test(begun) ? begun.replace(innerFormula, guarded) : begun
}

/** The text between two cells, and the formula sign after it. */
function guarded(all: string, between: string, sign: string): string {
  return cellBreak.test(between) ? `${between}'${sign}` : all
}

/** With the full-width, small and typographic forms that a spreadsheet or an input method normalizes. */
const signs = '=+@\\-\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212'
const formula = new RegExp(`^(?:[\\t\\r\\n]|[\\s"\\p{Cc}\\p{Cf}\\u3164]*[${signs}])`, 'u')
/** Linear time for runs of blanks: a match starts only where no blank precedes. */
const innerFormula = new RegExp(
  `(?<![;\\s"\\p{Cc}\\p{Cf}\\u3164])([;\\s"\\p{Cc}\\p{Cf}\\u3164]+)([${signs}])`,
  'gu',
)
const cellBreak = /[;\r\n]/
const plainNumber = /^-?\d+(?:\.\d+)?$/
/** Begins no formula or further cell, and needs no quotes. */
const usual = /^[A-Za-z0-9_./:][\w./:+@ -]*$/
const separators = /[,;\t\r\n]/
