import { redactionMarker } from '../redaction/index.js'
import type { GivenValue } from './given-values.js'
import { eachString, isScalar, partOf, plain } from './value-texts.js'

/** Values of `--set` and of the environment that were sent, for responses that repeat them. */
export class NotedValues {
  readonly #values = new Map<string, GivenValue>()

  list(): readonly GivenValue[] {
    return [...this.#values.values()]
  }

  /**
   * Notes a value that replaces a recorded one, both as JSON text. For a partly redacted string, only that part is
   * the given value.
   */
  noteSet(written: string, set: string, tag: string | undefined): void {
    if (!isScalar(set)) {
      // Which part stood where is unknown.
      eachString(set, (json) => this.note(plain(json), redactionMarker, undefined))
      return
    }
    const part = tag === undefined ? undefined : partOf(written, set)
    this.note(plain(part ?? set), tag === undefined ? plain(written) : redactionMarker, tag)
  }

  note(value: string, recorded: string, tag: string | undefined): void {
    if (this.#values.has(value) || value === '') return
    this.#values.set(value, { value, recorded, ...(tag !== undefined && { tag }) })
  }
}
