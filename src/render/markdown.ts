import { escapeJson, escapeText } from './escape.js'

/** Text of peers on one line of Markdown: plain words unchanged, everything else as code. */
export function markdownText(text: string, place: 'line' | 'cell'): string {
  return plainWords.test(text) ? text : markdownCode(text, place)
}

/**
 * Text of peers as a code span: none of it becomes markup, a link or a mention (`@everyone`).
 *
 * @param place a table cell, where a pipe would end the cell
 */
export function markdownCode(text: string, place: 'line' | 'cell'): string {
  if (text === '') return ''
  const shown = escapeText(text)
  // Renderers differ about a pipe after a backslash of the text itself.
  const inPlace =
    place === 'line' ? shown : shown.replaceAll('\\|', String.raw`\\u{7c}`).replaceAll('|', String.raw`\|`)
  const ticks = '`'.repeat(longestRun(inPlace) + 1)
  const pad = /^[` ]|[` ]$/.test(inPlace) ? ' ' : ''
  return `${ticks}${pad}${inPlace}${pad}${ticks}`
}

/** JSON text as a code block that its content cannot end. */
export function markdownJson(json: string): string {
  const text = escapeJson(json)
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${fence}json\n${text}\n${fence}`
}

const plainWords = /^[A-Za-z][A-Za-z /]*$/

/** Length of the longest run of backticks. */
function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}
