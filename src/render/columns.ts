import stringWidth from 'string-width'

/** Width of a text in terminal cells. */
export function widthOf(text: string): number {
  return isNarrow.test(text) ? text.length : stringWidth(text)
}

const isAscii = /^[\u0020-\u007e]*$/
/** Each of these takes one cell. Measuring takes 50 times as long; truncated text ends in one of them. */
const isNarrow = /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u2010-\u2027\u2190-\u2193]*$/

/** Padded with spaces to `width` cells, on the right or, for numbers, on the left. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'right'): string {
  const missing = width - widthOf(text)
  if (missing <= 0) return text
  return side === 'right' ? text + ' '.repeat(missing) : ' '.repeat(missing) + text
}

/**
 * Cut to at most `width` cells; `…` marks the cut. Grapheme clusters stay whole. Bounded work for any length
 * of text.
 */
export function truncate(text: string, width: number): string {
  if (text.length <= width && widthOf(text) <= width) return text
  if (width < 1) return ''
  // No natural grapheme cluster is longer than this.
  const head = text.slice(0, (width + 1) * longestCluster)
  if (head.length === text.length && widthOf(text) <= width) return text
  if (isAscii.test(head)) return `${head.slice(0, width - 1)}…`
  let cells = 0
  let cut = ''
  for (const { segment } of clusters().segment(head)) {
    const size = widthOf(segment)
    if (cells + size > width - 1) break
    cells += size
    cut += segment
  }
  return `${cut}…`
}

/** UTF-16 code units; a family of four with skin tones has 19. */
const longestCluster = 24

let segmenter: Intl.Segmenter | undefined

function clusters(): Intl.Segmenter {
  return (segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' }))
}

/** Pieces joined by `separator`, in as few lines of `width` cells as possible; a long piece is cut. */
export function wrapPieces(pieces: readonly string[], separator: string, width: number | undefined): string {
  if (width === undefined) return pieces.join(separator)
  const lines: string[] = []
  for (const piece of pieces) {
    const joined = lines.length === 0 ? undefined : `${lines.at(-1)}${separator}${piece}`
    if (joined !== undefined && widthOf(joined) <= width) lines[lines.length - 1] = joined
    else lines.push(truncate(piece, width))
  }
  return lines.join('\n')
}
