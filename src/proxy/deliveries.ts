/** Messages that are remembered in case they turn out to be undelivered. */
const remembered = 4_096

/** End offsets of the newest messages of one channel on the wire. Columns, which create no garbage. */
export class Deliveries<Ref> {
  #refs: Ref[] = []
  #ends: number[] = []

  remember(ref: Ref, endOffset: number): void {
    this.#refs.push(ref)
    this.#ends.push(endOffset)
    if (this.#refs.length <= 2 * remembered) return
    this.#refs.splice(0, this.#refs.length - remembered)
    this.#ends.splice(0, this.#ends.length - remembered)
  }

  /** Returns the messages that were not fully delivered, and forgets all. */
  takeAfter(deliveredBytes: number): Ref[] {
    const refs = this.#refs.filter((_, i) => this.#ends[i]! > deliveredBytes)
    this.#refs = []
    this.#ends = []
    return refs
  }
}
