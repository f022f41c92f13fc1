// @ts-check

/**
 * Text columns: the first to the left, the others to the right.
 *
 * @param {readonly (readonly string[])[]} rows The first is the heading.
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
