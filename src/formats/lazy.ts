import type { Format } from './format.js'

type Read = NonNullable<Format['read']>
type Write = NonNullable<Format['write']>

/** A reader that is loaded when something is read: a recorder that starts needs none. */
export function lazyRead(load: () => Promise<Read>): Read {
  return (input, report) => lazyIterable(async () => (await load())(input, report))
}

/** The same of a writer. */
export function lazyWrite(load: () => Promise<Write>): Write {
  return (recording, report) => lazyIterable(async () => (await load())(recording, report))
}

/** Without a generator of its own between: records come by the million. */
function lazyIterable<T>(load: () => Promise<AsyncIterable<T>>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      let inner: AsyncIterator<T> | undefined
      const opened = async (): Promise<IteratorResult<T>> => {
        inner = (await load())[Symbol.asyncIterator]()
        return inner.next()
      }
      return {
        next: () => (inner ? inner.next() : opened()),
        async return(value?: unknown) {
          await inner?.return?.(value)
          return { done: true, value: undefined }
        },
      }
    },
  }
}
