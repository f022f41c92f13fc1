/**
 * What the parts hold, one after the other. Records come by the million, and an async generator costs more to hand one
 * on than most readers need to make it: here it is a step of a plain iterator and one promise.
 *
 * Elements are asked for one at a time, as `for await` does.
 */
export function flatten<T>(parts: AsyncIterable<Iterable<T>>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new FlatIterator(parts[Symbol.asyncIterator]()) }
}

class FlatIterator<T> implements AsyncIterator<T, undefined> {
  readonly #parts: AsyncIterator<Iterable<T>>
  #part: Iterator<T> | undefined

  constructor(parts: AsyncIterator<Iterable<T>>) {
    this.#parts = parts
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#part) return this.#nextPart()
    let step: IteratorResult<T>
    try {
      step = this.#part.next()
    } catch (error) {
      return this.#failed(error)
    }
    return step.done ? this.#nextPart() : Promise.resolve(step)
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#part?.return?.()
    this.#part = undefined
    await this.#parts.return?.()
    return { done: true, value: undefined }
  }

  async #nextPart(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      this.#part = undefined
      const part = await this.#parts.next()
      if (part.done) return { done: true, value: undefined }
      this.#part = part.value[Symbol.iterator]()
      let step: IteratorResult<T>
      try {
        step = this.#part.next()
      } catch (error) {
        return this.#failed(error)
      }
      if (!step.done) return step
    }
  }

  /** A part that throws ends it all; what the parts come from is closed first. */
  async #failed(error: unknown): Promise<never> {
    this.#part = undefined
    await this.#parts.return?.()
    throw error
  }
}

/** `change` of each element. */
export function mapped<T, U>(elements: AsyncIterable<T>, change: (element: T) => U): AsyncIterable<U> {
  return {
    [Symbol.asyncIterator]() {
      const inner = elements[Symbol.asyncIterator]()
      const changed = (step: IteratorResult<T>): IteratorResult<U, undefined> =>
        step.done ? { done: true, value: undefined } : { done: false, value: change(step.value) }
      return {
        next: () => inner.next().then(changed),
        return: async () => {
          await inner.return?.()
          return { done: true, value: undefined }
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
      const done = { done: true, value: undefined } as const
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

/** The same elements; `ended` is called when there are no more of them, `failed` makes an error a better one. */
export function attended<T>(
  elements: AsyncIterable<T>,
  { ended, failed }: { readonly ended: () => void; readonly failed: (error: unknown) => unknown },
): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const inner = elements[Symbol.asyncIterator]()
      const stepped = (step: IteratorResult<T>): IteratorResult<T> => {
        if (step.done) ended()
        return step
      }
      const fell = (error: unknown): never => {
        throw failed(error)
      }
      return {
        next: () => inner.next().then(stepped, fell),
        return: async () => {
          await inner.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
