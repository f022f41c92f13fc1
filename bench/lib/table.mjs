// @ts-check

/**
 * Formats text columns: the first aligned left, the others right.
 *
 * @param {readonly (readonly string[])[]} rows The first row is the heading.
 */
export function table(rows) {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (/** @type {readonly string[]} */ row) =>
    widths
      .map((width, column) =>
        column === 0 ? (row[column] ?? '').padEnd(width) : (row[column] ?? '').padStart(width),
      )
      .join('   ')
      .trimEnd()
  const rule = widths.map((width) => '-'.repeat(width)).join('   ')
  return [line(rows[0] ?? []), rule, ...rows.slice(1).map(line)].join('\n')
}
