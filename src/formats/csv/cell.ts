/** RFC 4180. */
export function cell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = harmless(value)
  if (text.includes('"')) return `"${text.replaceAll('"', '""')}"`
  return separators.test(text) ? `"${text}"` : text
}

/**
 * Spreadsheets run what begins like a formula, and text of peers is hostile: an apostrophe before it makes it text.
 * Where a list is separated by semicolons, quotes that follow a comma are no quotes to a spreadsheet: then semicolons
 * and line breaks of the text begin a cell, too.
 */
export function harmless(text: string): string {
  if (plainNumber.test(text)) return text
  const begun = formula.test(text) ? `'${text}` : text
  return cellBreak.test(begun) ? begun.replace(innerFormula, guarded) : begun
}

/** All that stands between two cells, and the sign of a formula behind it. */
function guarded(all: string, between: string, sign: string): string {
  return cellBreak.test(between) ? `${between}'${sign}` : all
}

/** With their full-width, small and typographic forms, which a spreadsheet or an input method folds. */
const signs = '=+@\\-\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212'
const formula = new RegExp(`^(?:[\\t\\r\\n]|[\\s"\\p{Cc}\\p{Cf}\\u3164]*[${signs}])`, 'u')
/** A run of blanks is gone through once: it begins where no blank is before it. */
const innerFormula = new RegExp(
  `(?<![;\\s"\\p{Cc}\\p{Cf}\\u3164])([;\\s"\\p{Cc}\\p{Cf}\\u3164]+)([${signs}])`,
  'gu',
)
const cellBreak = /[;\r\n]/
const plainNumber = /^-?\d+(?:\.\d+)?$/
const separators = /[,;\t\r\n]/
