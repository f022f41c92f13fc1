import { detach } from '../model/index.js'

const mostNotes = 1_000
/** Maximum characters of a note. */
const longestNote = 2_000

const none: readonly string[] = []

/** Notes of people about rows. Bounded: only the first ones are kept. */
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
