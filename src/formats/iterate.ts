import { Changed, Mapped, Watched } from './batch-steps.js'

/**
 * Steps between a reader and a writer. Recordings have millions of records, and a promise per record costs more than
 * most readers need to create it. So elements move in batches, one per chunk of bytes, with one wait per batch. Within
 * a batch, elements are produced on demand.
 */

const batches = Symbol('batches')

/** An iterable that also offers batches. Each must be consumed or closed before the next is requested. */
interface Batched<T> extends AsyncIterable<T> {
  [batches](): AsyncIterator<Iterable<T>, undefined>
}

/** The elements in batches: in their own batches, where they have any. */
export function inBatches<T>(elements: AsyncIterable<T>): AsyncIterable<Iterable<T>> {
  return { [Symbol.asyncIterator]: () => batchesOf(elements) }
}

function batchesOf<T>(elements: AsyncIterable<T>): AsyncIterator<Iterable<T>, undefined> {
  if (batches in elements) return (elements as Batched<T>)[batches]()
  const inner = elements[Symbol.asyncIterator]()
  return {
    next: async () => {
      const step = await inner.next()
      return step.done ? done : { done: false, value: [step.value] }
    },
    return: () => returned(inner),
  }
}

const done = { done: true, value: undefined } as const

async function returned(inner: AsyncIterator<unknown> | undefined): Promise<typeof done> {
  await inner?.return?.()
  return done
}

function batched<T>(open: () => AsyncIterator<Iterable<T>, undefined>): AsyncIterable<T> {
  const elements: Batched<T> = {
    [batches]: open,
    [Symbol.asyncIterator]: () => new OneByOne(open()),
  }
  return elements
}

/** Iterates over single elements. */
class OneByOne<T> implements AsyncIterator<T, undefined> {
  readonly #batches: AsyncIterator<Iterable<T>, undefined>
  #batch: Iterator<T> | undefined
  #ended = false

  constructor(source: AsyncIterator<Iterable<T>, undefined>) {
    this.#batches = source
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (!this.#batch) return this.#nextBatch()
    let step: IteratorResult<T>
    try {
      step = this.#batch.next()
    } catch (error) {
      return this.#failed(error)
    }
    return step.done ? this.#nextBatch() : Promise.resolve(step)
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#batch?.return?.()
    this.#batch = undefined
    this.#ended = true
    return returned(this.#batches)
  }

  async #nextBatch(): Promise<IteratorResult<T, undefined>> {
    this.#batch = undefined
    while (!this.#ended) {
      const found = await this.#batches.next()
      if (found.done) break
      try {
        this.#batch = found.value[Symbol.iterator]()
        const step = this.#batch.next()
        if (!step.done) return step
      } catch (error) {
        return this.#failed(error)
      }
    }
    this.#batch = undefined
    this.#ended = true
    return done
  }

  /** A batch that throws ends the iteration; its source is closed first. */
  async #failed(error: unknown): Promise<never> {
    this.#batch = undefined
    this.#ended = true
    await this.#batches.return?.()
    throw error
  }
}

/** An asynchronous iterable of these elements. */
export function just<T>(elements: Iterable<T>): AsyncIterable<T> {
  return flatMapped(
    nothing,
    () => [],
    () => elements,
  )
}

const nothing: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(done) }),
}

/** The results of `change` for each element in turn; then those of `end`. */
export function flatMapped<T, U>(
  elements: AsyncIterable<T>,
  change: (element: T) => Iterable<U>,
  end: () => Iterable<U> = () => [],
): AsyncIterable<U> {
  return changedBatches(elements, (batch) => new Changed(batch, change), end)
}

/** The elements, some replaced by the results of `instead`; then the results of `end`. */
export function replaced<T>(
  elements: AsyncIterable<T>,
  instead: (element: T) => Iterable<T> | undefined,
  end: () => Iterable<T>,
): AsyncIterable<T> {
  return changedBatches(elements, (batch) => new Changed<T, T>(batch, instead), end)
}

function changedBatches<T, U>(
  elements: AsyncIterable<T>,
  change: (batch: Iterable<T>) => Iterable<U>,
  end: () => Iterable<U>,
): AsyncIterable<U> {
  return batched(() => {
    const inner = batchesOf(elements)
    let ended = false
    return {
      next: async () => {
        if (ended) return done
        const step = await inner.next()
        if (!step.done) return { done: false, value: change(step.value) }
        ended = true
        return { done: false, value: end() }
      },
      return: () => {
        ended = true
        return returned(inner)
      },
    }
  })
}

/** The result of `change` for each element. */
export function mapped<T, U>(elements: AsyncIterable<T>, change: (element: T) => U): AsyncIterable<U> {
  return batched(() => {
    const inner = batchesOf(elements)
    return {
      next: async () => {
        const step = await inner.next()
        return step.done ? done : { done: false, value: new Mapped(step.value, change) }
      },
      return: () => returned(inner),
    }
  })
}

/** Passes elements through; `ended` is called after the last, `failed` improves errors. */
export function attended<T>(
  elements: AsyncIterable<T>,
  {
    ended,
    failed = (error) => error,
  }: { readonly ended: () => void; readonly failed?: (error: unknown) => unknown },
): AsyncIterable<T> {
  return batched(() => {
    const inner = batchesOf(elements)
    return {
      next: async () => {
        const step = await inner.next().catch((error: unknown) => {
          throw failed(error)
        })
        if (!step.done) return { done: false, value: new Watched(step.value, failed) }
        ended()
        return done
      },
      return: () => returned(inner),
    }
  })
}

/** The elements of all sources in turn; each is opened after the previous one has ended. */
export function chained<T>(sources: readonly (() => AsyncIterable<T>)[]): AsyncIterable<T> {
  return batched(() => {
    let opened = 0
    let inner: AsyncIterator<Iterable<T>, undefined> | undefined
    return {
      next: async () => {
        for (;;) {
          if (!inner) {
            const open = sources[opened]
            if (!open) return done
            opened += 1
            inner = batchesOf(open())
          }
          const step = await inner.next()
          if (!step.done) return step
          inner = undefined
        }
      },
      return: () => {
        opened = sources.length
        return returned(inner)
      },
    }
  })
}

/** The elements of an iterable that `open` provides later. */
export function opened<T>(open: () => Promise<AsyncIterable<T>>): AsyncIterable<T> {
  return batched(() => {
    let inner: AsyncIterator<Iterable<T>, undefined> | undefined
    return {
      next: async () => {
        inner ??= batchesOf(await open())
        return inner.next()
      },
      return: () => returned(inner),
    }
  })
}
