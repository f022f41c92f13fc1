import { truncate, widthOf } from '../render/index.js'

/** A colour or a weight by meaning; the canvas defines its appearance. */
export type Tone =
  | 'plain'
  | 'dim'
  | 'red'
  | 'green'
  | 'yellow'
  | 'blue'
  | 'magenta'
  | 'cyan'
  | 'bold'
  | 'inverse'

/** A piece of text in one tone. Escaped: contains no terminal commands. */
export interface Span {
  readonly text: string
  readonly tone: Tone
}

/** One line on the screen. */
export type Line = readonly Span[]

export function span(text: string, tone: Tone = 'plain'): Span {
  return { text, tone }
}

export function lineWidth(line: Line): number {
  return line.reduce((width, { text }) => width + widthOf(text), 0)
}

/** Cuts a line to at most `width` cells. */
export function truncateLine(line: Line, width: number): Line {
  if (lineWidth(line) <= width) return line
  const kept: Span[] = []
  let cells = 0
  for (const { text, tone } of line) {
    const size = widthOf(text)
    if (cells + size > width) {
      kept.push({ text: truncate(text, width - cells), tone })
      break
    }
    kept.push({ text, tone })
    cells += size
  }
  return kept
}

/** Lines of at most `width` cells each, which together hold the whole text. */
export function wrapLine(line: Line, width: number): Line[] {
  if (lineWidth(line) <= width) return [line]
  const lines: Span[][] = [[]]
  let room = width
  for (const { text, tone } of line) {
    let rest = text
    while (rest !== '') {
      // A character wider than a line still gets a line of its own.
      const piece = fitting(rest, room) || (room === width ? String.fromCodePoint(rest.codePointAt(0)!) : '')
      if (piece !== '') lines.at(-1)!.push({ text: piece, tone })
      rest = rest.slice(piece.length)
      room -= widthOf(piece)
      if (rest === '') break
      lines.push([])
      room = width
    }
  }
  return lines
}

/** A sentence as lines of at most `width` cells, broken between words where possible. */
export function wrapWords({ text, tone }: Span, width: number): Line[] {
  const lines: Line[] = []
  let rest = text
  while (widthOf(rest) > width) {
    const whole = fitting(rest, Math.max(1, width))
    const blank = rest[whole.length] === ' ' ? whole.length : whole.lastIndexOf(' ')
    const piece = blank > 0 ? whole.slice(0, blank) : whole || String.fromCodePoint(rest.codePointAt(0)!)
    lines.push([{ text: piece, tone }])
    rest = rest.slice(piece.length).trimStart()
  }
  return [...lines, [{ text: rest, tone }]]
}

/** The longest prefix of `text` that takes at most `cells`. */
function fitting(text: string, cells: number): string {
  if (text.length <= cells && widthOf(text) <= cells) return text
  let used = 0
  let end = 0
  for (const char of text) {
    const size = widthOf(char)
    if (used + size > cells) break
    used += size
    end += char.length
  }
  return text.slice(0, end)
}

/** The longest suffix of `text` that takes at most `cells`. */
export function endingOf(text: string, cells: number): string {
  let used = 0
  let start = text.length
  for (const char of Array.from(text).toReversed()) {
    used += widthOf(char)
    if (used > cells) break
    start -= char.length
  }
  return text.slice(start)
}
