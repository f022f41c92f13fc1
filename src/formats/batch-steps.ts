/** Steps of `iterate.ts` on the elements of one batch. Within a batch, elements are produced on demand. */

const done = { done: true, value: undefined } as const

/** Replacement of an element; undefined keeps it, which requires that it is one of the results. */
export type Change<T, U> = (element: T) => Iterable<U> | (T extends U ? undefined : never)

abstract class Steps<T, U> implements IterableIterator<U, undefined> {
  protected readonly elements: Iterator<T>

  constructor(batch: Iterable<T>) {
    this.elements = batch[Symbol.iterator]()
  }

  [Symbol.iterator](): this {
    return this
  }

  abstract next(): IteratorResult<U, undefined>

  return(): IteratorResult<U, undefined> {
    this.elements.return?.()
    return done
  }
}

/** Results of `change` per element. No generator, which is three times as slow; no array, which keeps all alive. */
export class Changed<T, U> extends Steps<T, U> {
  readonly #change: Change<T, U>
  #made: Iterator<U> | undefined

  constructor(batch: Iterable<T>, change: Change<T, U>) {
    super(batch)
    this.#change = change
  }

  next(): IteratorResult<U, undefined> {
    for (;;) {
      if (this.#made) {
        const step = this.#made.next()
        if (!step.done) return step
        this.#made = undefined
      }
      const step = this.elements.next()
      if (step.done) return done
      const made: Iterable<U> | undefined = this.#change(step.value)
      if (!made) return step as IteratorYieldResult<T & U>
      this.#made = made[Symbol.iterator]()
    }
  }

  override return(): IteratorResult<U, undefined> {
    this.#made?.return?.()
    return super.return()
  }
}

/** Applies `change` to each element. */
export class Mapped<T, U> extends Steps<T, U> {
  readonly #change: (element: T) => U

  constructor(batch: Iterable<T>, change: (element: T) => U) {
    super(batch)
    this.#change = change
  }

  next(): IteratorResult<U, undefined> {
    const step = this.elements.next()
    return step.done ? done : { done: false, value: this.#change(step.value) }
  }
}

/** Passes elements through; `failed` converts an error into a more helpful one. */
export class Watched<T> extends Steps<T, T> {
  readonly #failed: (error: unknown) => unknown

  constructor(batch: Iterable<T>, failed: (error: unknown) => unknown) {
    super(batch)
    this.#failed = failed
  }

  next(): IteratorResult<T, undefined> {
    try {
      const step = this.elements.next()
      return step.done ? done : step
    } catch (error) {
      throw this.#failed(error)
    }
  }
}
