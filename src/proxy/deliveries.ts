/** Messages that are remembered in case they turn out to be undelivered. */
const remembered = 4_096

/** End offsets of the newest messages of one channel on the wire. A ring of columns, which creates no garbage. */
export class Deliveries<Ref> {
  #refs: (Ref | undefined)[] = []
  #ends = new Float64Array(0)
  /** Messages so far. */
  #count = 0

  remember(ref: Ref, endOffset: number): void {
    if (this.#ends.length === 0) this.#begin()
    const at = this.#count % remembered
    this.#refs[at] = ref
    this.#ends[at] = endOffset
    this.#count += 1
  }

  /** Returns the messages that were not fully delivered, and forgets all. */
  takeAfter(deliveredBytes: number): Ref[] {
    const refs: Ref[] = []
    for (let n = Math.max(0, this.#count - remembered); n < this.#count; n += 1)
      if (this.#ends[n % remembered]! > deliveredBytes) refs.push(this.#refs[n % remembered]!)
    this.#count = 0
    return refs
  }

  #begin(): void {
    this.#ends = new Float64Array(remembered)
    // Of one kind from the start, whatever the references are.
    this.#refs = Array.from({ length: remembered }, () => undefined)
  }
}
