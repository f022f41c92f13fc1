import { detach } from '../model/index.js'

const mostNotes = 1_000
/** Characters of a note. */
const longestNote = 2_000

const none: readonly string[] = []

/** What people said about rows; of very many notes only the first. */
export class RowNotes {
  readonly #notes = new Map<number, string[]>()
  #count = 0

  add(row: number, text: string): void {
    if (this.#count >= mostNotes) return
    this.#count += 1
    const said = detach(text.slice(0, longestNote))
    const before = this.#notes.get(row)
    if (before) before.push(said)
    else this.#notes.set(row, [said])
  }

  of(row: number): readonly string[] {
    return this.#notes.get(row) ?? none
  }
}
