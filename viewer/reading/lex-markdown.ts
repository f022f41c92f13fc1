import { Lexer, type Token, type Tokens } from 'marked'

/** Characters; bounds the parser's time on hostile text to less than a second. */
const longest = 20_000
/** Longer paragraphs are shown unformatted: emphasis and links take more than linear time. */
const longestParagraph = 2_000
const mostMarks = 60
const mostNested = /^(?:[ \t]*(?:[>*+-]|\d{1,9}[.)])){12}/m

/** The tokens of a peer's Markdown text; undefined if parsing would take too long. */
export function lexMarkdown(text: string): readonly Token[] | undefined {
  if (text.length > longest || mostNested.test(text)) return undefined
  try {
    return new CarefulLexer({ gfm: true }).lex(text)
  } catch {
    // Nested too deeply for the parser.
    return undefined
  }
}

/** Leaves paragraphs unformatted that would take too long. */
class CarefulLexer extends Lexer {
  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const marks = src.match(/[[*_~`<!\\]/g)?.length ?? 0
    if (src.length <= longestParagraph && marks <= mostMarks) return super.inlineTokens(src, tokens)
    tokens.push({ type: 'text', raw: src, text: src, escaped: false } satisfies Tokens.Text)
    return tokens
  }
}
