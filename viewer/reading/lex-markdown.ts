import { Lexer, type Token, type Tokens } from 'marked'

/** Characters; what a peer wrote to keep the parser busy takes less than a second then. */
const longest = 20_000
/** Paragraphs with more are shown as they are written: emphasis and links take more than linear time. */
const longestParagraph = 2_000
const mostMarks = 60
const mostNested = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)])){12}/m

/** The parts of a Markdown text of a peer; undefined for one that would keep the parser busy. */
export function lexMarkdown(text: string): readonly Token[] | undefined {
  if (text.length > longest || mostNested.test(text)) return undefined
  try {
    return new CarefulLexer({ gfm: true }).lex(text)
  } catch {
    // It is nested too deeply for the parser.
    return undefined
  }
}

/** Leaves paragraphs that would keep it busy as they are written. */
class CarefulLexer extends Lexer {
  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const marks = src.match(/[[*_~`<!\\]/g)?.length ?? 0
    if (src.length <= longestParagraph && marks <= mostMarks) return super.inlineTokens(src, tokens)
    tokens.push({ type: 'text', raw: src, text: src, escaped: false } satisfies Tokens.Text)
    return tokens
  }
}
