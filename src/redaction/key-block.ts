import { endOfKey, endOfKeyStart } from './value-patterns.js'

const begin = '-----BEGIN '
/** A block without an end after so many lines was not a key; its first line only looked like one. */
const mostLines = 500

/** Private keys that span lines: everything from their first line to their last is replaced. */
export class KeyBlocks {
  /** Remaining number of lines, by channel. */
  readonly #open = new Map<string, number>()

  isOpen(channel: string): boolean {
    return this.#open.has(channel)
  }

  /**
   * The length of a line's beginning that belongs to a key from an earlier line: an index, or undefined for
   * the whole line.
   */
  continue(line: string, channel: string): number | undefined {
    const left = (this.#open.get(channel) ?? 1) - 1
    const end = endOfKey(line, 0)
    if (end !== undefined || left === 0) this.#open.delete(channel)
    else this.#open.set(channel, left)
    return end
  }

  /** Notes whether a key begins in this line without ending in it. */
  begin(line: string, channel: string): void {
    let from = 0
    for (let at = line.indexOf(begin); at >= 0; at = line.indexOf(begin, from)) {
      from = at + begin.length
      const body = endOfKeyStart(line, from)
      if (body === undefined) continue
      const end = line.indexOf('-----END', body)
      if (end < 0) {
        this.#open.set(channel, mostLines)
        return
      }
      from = end
    }
  }
}
