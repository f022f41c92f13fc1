import type { Transform } from 'node:stream'
import { setImmediate } from 'node:timers/promises'

/** One of Node's decompressors. */
export type Decompressor = Transform & { readonly bytesWritten: number }

/** A decompressor that keeps what it made of good bytes when bad ones follow them; a stream throws that away. */
export interface Engine {
  /** Resolves when all that can be made of these bytes is made. */
  feed(bytes: Uint8Array): Promise<void>
  /** Resolves when there is nothing more to come. */
  end(): Promise<void>
  /** What was made since the last time. */
  take(): Uint8Array[]
  /** Of the bytes that it was fed, those that belong to its data. */
  taken(): number
  /** What it says about the bytes that it was fed last, or about their end. */
  failure(): (Error & { readonly code?: string }) | undefined
  close(): void
}

export function createEngine(stream: Decompressor): Engine {
  let made: Uint8Array[] = []
  let failure: Error | undefined
  let isClosed = false
  /** Resolves what waits. A stream that failed does not call back for what was written last. */
  let wake = (): void => undefined
  stream.on('data', (chunk: Uint8Array) => void made.push(chunk))
  stream.on('error', (error) => (failure ??= error))
  stream.on('close', () => {
    isClosed = true
    wake()
  })

  async function settled(act: (done: () => void) => void): Promise<void> {
    if (isClosed) return
    await new Promise<void>((resolve) => {
      wake = resolve
      act(resolve)
    })
    while (!isClosed && stream.readableLength > 0) await setImmediate()
  }

  return {
    feed: (bytes) => settled((done) => stream.write(bytes, () => done())),
    end: () => settled(() => stream.end()),
    take() {
      const taken = made
      made = []
      return taken
    },
    taken: () => stream.bytesWritten,
    failure: () => failure,
    close: () => void stream.destroy(),
  }
}
