import type { Literal } from './literal.js'

/** How many texts are searched without tables, and their maximum length. */
const mostTexts = 64
const longestText = 256

/** Searches the first short texts without tables: a starting recorder has only a label and a command to check. */
export class FirstTexts {
  readonly #literals: readonly Literal[]
  #count = 0

  constructor(literals: readonly Literal[]) {
    this.#literals = literals
  }

  /** Whether the text is among the first, is short, and contains none of the literals. */
  isWithout(text: string): boolean {
    if (this.#count >= mostTexts || text.length > longestText) return false
    this.#count += 1
    const lower = text.toLowerCase()
    return !this.#literals.some(({ literal, exact }) => (exact ? text : lower).includes(literal))
  }
}
