/** What `iterate.ts` does to the elements of one batch. Within a batch nothing is made before it is asked for. */

const done = { done: true, value: undefined } as const

/** What `change` makes of each element. Written out: a generator is three times as slow, and an array keeps all alive. */
export class Changed<T, U> implements IterableIterator<U, undefined> {
  readonly #elements: Iterator<T>
  readonly #change: (element: T) => Iterable<U>
  #made: Iterator<U> | undefined

  constructor(batch: Iterable<T>, change: (element: T) => Iterable<U>) {
    this.#elements = batch[Symbol.iterator]()
    this.#change = change
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): IteratorResult<U, undefined> {
    for (;;) {
      if (this.#made) {
        const step = this.#made.next()
        if (!step.done) return step
        this.#made = undefined
      }
      const step = this.#elements.next()
      if (step.done) return done
      this.#made = this.#change(step.value)[Symbol.iterator]()
    }
  }

  return(): IteratorResult<U, undefined> {
    this.#made?.return?.()
    this.#elements.return?.()
    return done
  }
}

/** As `Changed`, where most elements stay what they are. */
export class Replaced<T> implements IterableIterator<T, undefined> {
  readonly #elements: Iterator<T>
  readonly #instead: (element: T) => Iterable<T> | undefined
  #made: Iterator<T> | undefined

  constructor(batch: Iterable<T>, instead: (element: T) => Iterable<T> | undefined) {
    this.#elements = batch[Symbol.iterator]()
    this.#instead = instead
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): IteratorResult<T, undefined> {
    for (;;) {
      if (this.#made) {
        const step = this.#made.next()
        if (!step.done) return step
        this.#made = undefined
      }
      const step = this.#elements.next()
      if (step.done) return done
      const made = this.#instead(step.value)
      if (!made) return step
      this.#made = made[Symbol.iterator]()
    }
  }

  return(): IteratorResult<T, undefined> {
    this.#made?.return?.()
    this.#elements.return?.()
    return done
  }
}

/** `change` of each element. */
export class Mapped<T, U> implements IterableIterator<U, undefined> {
  readonly #elements: Iterator<T>
  readonly #change: (element: T) => U

  constructor(batch: Iterable<T>, change: (element: T) => U) {
    this.#elements = batch[Symbol.iterator]()
    this.#change = change
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): IteratorResult<U, undefined> {
    const step = this.#elements.next()
    return step.done ? done : { done: false, value: this.#change(step.value) }
  }

  return(): IteratorResult<U, undefined> {
    this.#elements.return?.()
    return done
  }
}
