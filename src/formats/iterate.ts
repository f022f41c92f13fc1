/**
 * Steps between one who reads and one who writes. Records come by the million, and an async generator costs more to
 * hand one on than most readers need to make it: here it is a step of a plain iterator and one promise.
 *
 * Elements are asked for one at a time, as `for await` does.
 */

/** What `change` makes of each element, one after the other; then what `end` gives. */
export function flatMapped<T, U>(
  elements: AsyncIterable<T>,
  change: (element: T) => Iterable<U>,
  end: () => Iterable<U> = () => [],
): AsyncIterable<U> {
  return { [Symbol.asyncIterator]: () => new FlatIterator(elements[Symbol.asyncIterator](), change, end) }
}

class FlatIterator<T, U> implements AsyncIterator<U, undefined> {
  readonly #elements: AsyncIterator<T>
  readonly #change: (element: T) => Iterable<U>
  readonly #end: () => Iterable<U>
  #part: Iterator<U> | undefined
  #ended = false

  constructor(elements: AsyncIterator<T>, change: (element: T) => Iterable<U>, end: () => Iterable<U>) {
    this.#elements = elements
    this.#change = change
    this.#end = end
  }

  next(): Promise<IteratorResult<U, undefined>> {
    if (!this.#part) return this.#nextPart()
    let step: IteratorResult<U>
    try {
      step = this.#part.next()
    } catch (error) {
      return this.#failed(error)
    }
    return step.done ? this.#nextPart() : Promise.resolve(step)
  }

  async return(): Promise<IteratorResult<U, undefined>> {
    this.#part?.return?.()
    this.#part = undefined
    this.#ended = true
    await this.#elements.return?.()
    return done
  }

  async #nextPart(): Promise<IteratorResult<U, undefined>> {
    this.#part = undefined
    while (!this.#ended) {
      const element = await this.#elements.next()
      this.#ended = element.done === true
      try {
        this.#part = (element.done ? this.#end() : this.#change(element.value))[Symbol.iterator]()
        const step = this.#part.next()
        if (!step.done) return step
      } catch (error) {
        return this.#failed(error)
      }
    }
    this.#part = undefined
    return done
  }

  /** A part that throws ends it all; what the elements come from is closed first. */
  async #failed(error: unknown): Promise<never> {
    this.#part = undefined
    this.#ended = true
    await this.#elements.return?.()
    throw error
  }
}

const done = { done: true, value: undefined } as const

/** `change` of each element; it does not throw. */
export function mapped<T, U>(elements: AsyncIterable<T>, change: (element: T) => U): AsyncIterable<U> {
  const changed = (step: IteratorResult<T>): IteratorResult<U, undefined> =>
    step.done ? done : { done: false, value: change(step.value) }
  return drawn(elements, (step) => step.then(changed))
}

/** The same elements; `ended` is called when there are no more of them, `failed` makes an error a better one. */
export function attended<T>(
  elements: AsyncIterable<T>,
  { ended, failed }: { readonly ended: () => void; readonly failed?: (error: unknown) => unknown },
): AsyncIterable<T> {
  const stepped = (step: IteratorResult<T>): IteratorResult<T> => {
    if (step.done) ended()
    return step
  }
  const fell = (error: unknown): never => {
    throw failed ? failed(error) : error
  }
  return drawn(elements, (step) => step.then(stepped, fell))
}

/** What `next` makes of each step; who stops early stops the elements too. */
function drawn<T, U>(
  elements: AsyncIterable<T>,
  next: (step: Promise<IteratorResult<T>>) => Promise<IteratorResult<U>>,
): AsyncIterable<U> {
  return {
    [Symbol.asyncIterator]() {
      const inner = elements[Symbol.asyncIterator]()
      return {
        next: () => next(inner.next()),
        return: async () => {
          await inner.return?.()
          return done
        },
      }
    },
  }
}

/** What the sources hold, one after the other; each is opened when the one before it has ended. */
export function chained<T>(sources: readonly (() => AsyncIterable<T>)[]): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      let opened = 0
      let inner: AsyncIterator<T> | undefined
      const nextSource = async (): Promise<IteratorResult<T, undefined>> => {
        inner = sources[opened]?.()[Symbol.asyncIterator]()
        opened += 1
        return inner ? inner.next().then(stepped) : done
      }
      const stepped = (
        step: IteratorResult<T>,
      ): IteratorResult<T, undefined> | Promise<IteratorResult<T, undefined>> =>
        step.done ? nextSource() : step
      return {
        next: () => (inner ? inner.next().then(stepped) : nextSource()),
        return: async () => {
          await inner?.return?.()
          return done
        },
      }
    },
  }
}
