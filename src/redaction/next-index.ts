/** Looks ahead in a text from mostly ascending positions and remembers the results, so that each part is read once. */
export class NextIndex {
  readonly #text: string
  readonly #known = new Map<string, { readonly from: number; readonly at: number }>()

  readonly #runs = new Map<string, { readonly from: number; readonly end: number }>()

  constructor(text: string) {
    this.#text = text
  }

  /**
   * The end of a run of one `kind` at `from`, found by `read`. A run read from an earlier position has the same end, so
   * it is not read again.
   */
  endOfRun(kind: string, from: number, read: (from: number) => number): number {
    const known = this.#runs.get(kind)
    if (known !== undefined && known.from <= from && from < known.end) return known.end
    const end = read(from)
    this.#runs.set(kind, { from, end })
    return end
  }

  /** Index of the first `character` at or after `from`; the length of the text if there is none. */
  of(character: string, from: number): number {
    const known = this.#known.get(character)
    if (known !== undefined && known.from <= from && from <= known.at) return known.at
    const found = this.#text.indexOf(character, from)
    const at = found < 0 ? this.#text.length : found
    this.#known.set(character, { from, at })
    return at
  }
}
