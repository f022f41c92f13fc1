/** Messages remembered for the case that it turns out later that they were never delivered. */
const remembered = 4_096

/** Where the newest messages of one channel ended on the wire. In columns, which leave no garbage behind. */
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

  /** The messages of which not all bytes were delivered. Forgets all. */
  takeAfter(deliveredBytes: number): Ref[] {
    const refs = this.#refs.filter((_, i) => this.#ends[i]! > deliveredBytes)
    this.#refs = []
    this.#ends = []
    return refs
  }
}
