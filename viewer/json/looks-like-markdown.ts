/** Longer texts are shown unformatted. */
const longest = 20_000
const signs = [
  /^#{1,6} \S/m,
  /^ {0,3}```/m,
  /^ {0,3}\|.*\|[ \t]*\n {0,3}\|[-:| \t]+\|/m,
  /^ {0,3}[-*] \S.*\n+ {0,3}[-*] \S/m,
  /^ {0,3}\d{1,3}\. \S.*\n+ {0,3}\d{1,3}\. \S/m,
  /^> \S/m,
  /\*\*[^\s*][^*\n]{0,200}\*\*/,
  /\[[^\]\n]{1,200}\]\(https?:\/\/[^\s)]{1,2000}\)/,
]

/** Whether a text contains Markdown: headings, lists, tables, code, bold words, links. */
export function looksLikeMarkdown(text: string): boolean {
  return text.length <= longest && signs.some((sign) => sign.test(text))
}
