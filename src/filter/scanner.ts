import { FilterProblem } from './fault.js'

/** A piece of a filter, with its position. */
export interface Piece {
  readonly start: number
  readonly end: number
  /** Decoded. */
  readonly text: string
  readonly quoted: boolean
}

/** Reads the pieces of a filter, from left to right. Throws FilterProblem. */
export class Scanner {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  /** The character at the reading position plus `ahead`; '' at the end. */
  peek(ahead = 0): string {
    return this.text[this.at + ahead] ?? ''
  }

  skipBlanks(): void {
    while (isBlank(this.peek())) this.at += 1
  }

  /** Skips `token` if it is next. */
  take(token: string): boolean {
    if (!this.text.startsWith(token, this.at)) return false
    this.at += token.length
    return true
  }

  /** Whether a term ends here. */
  atEnd(): boolean {
    const next = this.peek()
    return next === '' || isBlank(next) || next === '(' || next === ')'
  }

  /** A word, or a quoted text. Empty if neither is next. */
  value(): Piece {
    const quote = this.peek()
    return quote === '"' || quote === "'" ? this.quoted(quote) : this.word(() => false)
  }

  /** Reads up to a blank, a parenthesis, or a character that `stops` accepts. */
  word(stops: (next: string) => boolean): Piece {
    const start = this.at
    while (!this.atEnd() && !stops(this.peek())) this.at += 1
    return { start, end: this.at, text: this.text.slice(start, this.at), quoted: false }
  }

  /** Only the quote and the backslash are escaped, with a backslash. */
  quoted(quote: string): Piece {
    const start = this.at
    let text = ''
    this.at += 1
    for (;;) {
      const next = this.peek()
      if (next === '') throw new FilterProblem(start, this.at, `the text has no end: expected ${quote}`)
      this.at += 1
      if (next === quote) return { start, end: this.at, text, quoted: true }
      const escaped = this.peek()
      if (next === '\\' && (escaped === quote || escaped === '\\')) {
        text += escaped
        this.at += 1
      } else text += next
    }
  }

  /** A pattern up to its closing slash, read from after the opening one. `\/` is a slash. */
  pattern(start: number): Piece {
    let text = ''
    for (;;) {
      const next = this.peek()
      if (next === '') throw new FilterProblem(start, this.at, 'the pattern has no end: expected /')
      this.at += 1
      if (next === '/') return { start, end: this.at, text, quoted: true }
      if (next !== '\\') {
        text += next
        continue
      }
      const escaped = this.peek()
      this.at += escaped === '' ? 0 : 1
      text += escaped === '/' ? '/' : `\\${escaped}`
    }
  }

  /** A JSONPath: up to a comparison, a `~`, or the end of the term, none of which counts inside brackets. */
  path(): Piece {
    const start = this.at
    let depth = 0
    for (;;) {
      const next = this.peek()
      if (next === '') break
      if (depth === 0 && (isBlank(next) || next === ')' || next === '(' || '~=!<>'.includes(next))) break
      if (depth > 0 && (next === '"' || next === "'")) {
        this.skipString(next)
        continue
      }
      if (next === '[' || (depth > 0 && next === '(')) depth += 1
      else if (depth > 0 && (next === ']' || next === ')')) depth -= 1
      this.at += 1
    }
    return { start, end: this.at, text: this.text.slice(start, this.at), quoted: false }
  }

  private skipString(quote: string): void {
    this.at += 1
    while (this.peek() !== '' && this.peek() !== quote) this.at += this.peek() === '\\' ? 2 : 1
    this.at = Math.min(this.text.length, this.at + 1)
  }
}

function isBlank(text: string): boolean {
  return text !== '' && /\s/.test(text)
}
