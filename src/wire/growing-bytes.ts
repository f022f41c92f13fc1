/**
 * Bytes that are added at the end and dropped from the front; each is copied a bounded number of times. A line feed
 * follows them, which ends the loops of readers.
 */
const LF = 0x0a

export class GrowingBytes {
  #bytes = new Uint8Array(65_536)
  #length = 0

  /** The held bytes, a line feed, and unused space. Valid until the next `add` or `drop`. */
  get bytes(): Uint8Array {
    return this.#bytes
  }

  get length(): number {
    return this.#length
  }

  add(chunk: Uint8Array): void {
    const needed = this.#length + chunk.length
    if (needed >= this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed + 1, 2 * this.#bytes.length))
      larger.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = larger
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = needed
    this.#bytes[needed] = LF
  }

  /** Drops the first `count` bytes. The rest moves to the front. */
  drop(count: number): void {
    if (count === 0) return
    this.#bytes.copyWithin(0, count, this.#length)
    this.#length -= count
    this.#bytes[this.#length] = LF
  }
}
