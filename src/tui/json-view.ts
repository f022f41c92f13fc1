import { escapeJson, indentedPieces } from '../render/index.js'
import { span, type Line, type Span, type Tone } from './spans.js'

/** Limits for one displayed text; the rest is counted. */
const mostLines = 5_000
const mostCharacters = 512 * 1024

/** Indented JSON with coloured tokens. Text over the limit is counted in the last line. */
export function jsonLines(text: string): Line[] {
  return indentedLines(text).map((line) => coloured(line))
}

/** The same as plain text. */
export function indentedLines(text: string): string[] {
  let shown = ''
  let whole = true
  for (const piece of indentedPieces(
    text.length > mostCharacters * 4 ? text.slice(0, mostCharacters) : text,
  )) {
    shown += piece
    if (shown.length < mostCharacters) continue
    shown = shown.slice(0, mostCharacters)
    whole = false
    break
  }
  if (text.length > mostCharacters * 4) whole = false
  const lines = escapeJson(shown).split('\n')
  if (lines.length > mostLines) {
    lines.length = mostLines
    whole = false
  }
  if (!whole) lines.push('… too long to show here: e opens it in your editor')
  return lines
}

const token = /"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]+|\s+|[^\s"{}[\],:\d-]+|-/g

function coloured(line: string): Line {
  // Colouring such a long line costs more than it helps.
  if (line.length > 20_000) return [span(line)]
  const spans: Span[] = []
  for (const { 0: text, index } of line.matchAll(token)) {
    const isName = text.startsWith('"') && line.startsWith(':', index + text.length)
    spans.push(span(text, isName ? 'cyan' : toneOf(text)))
  }
  return spans
}

function toneOf(text: string): Tone {
  const first = text[0]!
  if (first === '"') return text === '"[REDACTED]"' ? 'magenta' : 'green'
  if (first === '-' || (first >= '0' && first <= '9')) return 'yellow'
  if (text === 'true' || text === 'false' || text === 'null') return 'blue'
  return 'plain'
}
