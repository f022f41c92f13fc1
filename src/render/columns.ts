import stringWidth from 'string-width'

/** Cells of a terminal that a text takes. */
export function widthOf(text: string): number {
  return isAscii.test(text) ? text.length : stringWidth(text)
}

const isAscii = /^[\u0020-\u007e]*$/

/** Filled with spaces up to `width` cells, on the right or, for numbers, on the left. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const missing = width - widthOf(text)
  if (missing <= 0) return text
  return side === 'right' ? text + ' '.repeat(missing) : ' '.repeat(missing) + text
}

/** At most `width` cells; what is cut off is shown by `…`. Bounded work for any length of text. */
export function truncate(text: string, width: number): string {
  if (text.length <= width && widthOf(text) <= width) return text
  let cells = 0
  let cut = ''
  for (const char of text) {
    const size = widthOf(char)
    if (cells + size > width - 1) break
    cells += size
    cut += char
  }
  return `${cut}…`
}
