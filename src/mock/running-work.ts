/** Work in progress. */
export class RunningWork {
  readonly #works = new Set<Promise<void>>()

  /** @param work must not reject */
  add(work: Promise<void>): void {
    const tracked: Promise<void> = work.finally(() => this.#works.delete(tracked))
    this.#works.add(tracked)
  }

  /** Resolves when the present work is done. */
  async present(): Promise<void> {
    await Promise.all(this.#works)
  }

  /** Resolves when no work is left, including work that other work started. */
  async all(): Promise<void> {
    while (this.#works.size > 0) await this.present()
  }
}
