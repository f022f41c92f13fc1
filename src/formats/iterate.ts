import { Changed, Mapped, Watched } from './batch-steps.js'

/**
 * Steps between one who reads and one who writes. Records come by the million, and a promise for each costs more than
 * most readers need to make one. So elements go on in batches, those of a chunk of bytes, and there is one wait a batch.
 * Within a batch nothing is made before it is asked for.
 */

const batches = Symbol('batches')

/** May be gone through in batches too. Each has to be used up, or given up, before the next is asked for. */
interface Batched<T> extends AsyncIterable<T> {
  [batches](): AsyncIterator<Iterable<T>, undefined>
}

/** The elements in batches: those that they come in, where they do. */
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

/** For whoever takes the elements one by one. */
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

  /** A batch that throws ends it all; what the elements come from is closed first. */
  async #failed(error: unknown): Promise<never> {
    this.#batch = undefined
    this.#ended = true
    await this.#batches.return?.()
    throw error
  }
}

/** These elements, as if they were read from somewhere. */
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

/** What `change` makes of each element, one after the other; then what `end` gives. */
export function flatMapped<T, U>(
  elements: AsyncIterable<T>,
  change: (element: T) => Iterable<U>,
  end: () => Iterable<U> = () => [],
): AsyncIterable<U> {
  return changedBatches(elements, (batch) => new Changed(batch, change), end)
}

/** The elements, but what `instead` gives in the place of some; then what `end` gives. */
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

/** `change` of each element. */
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

/** The same elements; `ended` is called when there are no more of them, `failed` makes an error a better one. */
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

/** What the sources hold, one after the other; each is opened when the one before it has ended. */
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

/** What is there once `open` has opened it. */
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
