import { escapeJson, escapeText } from './escape.js'

/** Text of peers on one line of Markdown: words of letters as they are, everything else as code. */
export function markdownText(text: string, place: 'line' | 'cell'): string {
  return plainWords.test(text) ? text : markdownCode(text, place)
}

/**
 * Text of peers as a code span: nothing in it is markup, an address that becomes a link, or a name that is notified
 * (`@everyone`).
 *
 * @param place a cell of a table, where a pipe would end the cell
 */
export function markdownCode(text: string, place: 'line' | 'cell'): string {
  if (text === '') return ''
  const shown = escapeText(text)
  // Renderers differ about a pipe that a backslash of the text itself comes before.
  const inPlace =
    place === 'line' ? shown : shown.replaceAll('\\|', String.raw`\\u{7c}`).replaceAll('|', String.raw`\|`)
  const ticks = '`'.repeat(longestRun(inPlace) + 1)
  const pad = /^[` ]|[` ]$/.test(inPlace) ? ' ' : ''
  return `${ticks}${pad}${inPlace}${pad}${ticks}`
}

/** JSON text as a block of its own, which nothing in it can end. */
export function markdownJson(json: string): string {
  const text = escapeJson(json)
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${fence}json\n${text}\n${fence}`
}

const plainWords = /^[A-Za-z][A-Za-z /]*$/

/** The most backticks in a row. */
function longestRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return longest
}
