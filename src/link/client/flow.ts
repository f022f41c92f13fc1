/** A switch that pauses reading. */
export class Flow {
  #opened: Promise<void> | undefined
  #open: () => void = () => undefined

  hold(wait: boolean): void {
    if (wait) this.#opened ??= new Promise((resolve) => (this.#open = resolve))
    else {
      this.#open()
      this.#opened = undefined
    }
  }

  /** Resolves when the next piece may be read. */
  async opened(): Promise<void> {
    while (this.#opened) await this.#opened
  }
}
