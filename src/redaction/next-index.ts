/** Looks ahead in a text from places that mostly ascend, and remembers the answer: what is between is read once. */
export class NextIndex {
  readonly #text: string
  readonly #known = new Map<string, { readonly from: number; readonly at: number }>()

  constructor(text: string) {
    this.#text = text
  }

  /** Index of the first `character` from `from` on; the length of the text when there is none. */
  of(character: string, from: number): number {
    const known = this.#known.get(character)
    if (known !== undefined && known.from <= from && from <= known.at) return known.at
    const found = this.#text.indexOf(character, from)
    const at = found < 0 ? this.#text.length : found
    this.#known.set(character, { from, at })
    return at
  }
}
