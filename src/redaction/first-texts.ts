import type { Literal } from './literal-finder.js'

/** Texts that are looked at without tables, and how long each of them may be. */
const mostTexts = 64
const longestText = 256

/** Looks at the first short texts without tables: a recorder that starts has a label and a command, and a client that waits. */
export class FirstTexts {
  readonly #literals: readonly Literal[]
  #count = 0

  constructor(literals: readonly Literal[]) {
    this.#literals = literals
  }

  /** Whether the text is one of the first, short, and none of the literals is in it. */
  isWithout(text: string): boolean {
    if (this.#count >= mostTexts || text.length > longestText) return false
    this.#count += 1
    const lower = text.toLowerCase()
    return !this.#literals.some(({ literal, exact }) => (exact ? text : lower).includes(literal))
  }
}
