/** Collects numbers of fixed meaning about each chunk or event of a batch. Memory is kept for later batches. */
export class Marks {
  #values = new Float64Array(256)
  #length = 0

  /** Numbers of the current batch. */
  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#values.length) this.#grow()
    this.#values[this.#length++] = value
  }

  copy(): Float64Array {
    return this.#values.slice(0, this.#length)
  }

  /** Begins a new batch. */
  drop(): void {
    this.#length = 0
  }

  #grow(): void {
    const values = new Float64Array(2 * this.#length)
    values.set(this.#values)
    this.#values = values
  }
}
