import type { Transform } from 'node:stream'
import { setImmediate } from 'node:timers/promises'

/** One of Node's decompressors. */
export type Decompressor = Transform & { readonly bytesWritten: number }

/** A decompressor that keeps the output of good bytes before bad ones; a stream would discard it. */
export interface Engine {
  /** Resolves when all output for these bytes is made. */
  feed(bytes: Uint8Array): Promise<void>
  /** Resolves at the end of output. */
  end(): Promise<void>
  /** Output since the last call. */
  take(): Uint8Array[]
  /** Number of input bytes that belong to its data. */
  taken(): number
  /** Error from the last input bytes, or from their end. */
  failure(): (Error & { readonly code?: string }) | undefined
  close(): void
}

export function createEngine(stream: Decompressor): Engine {
  let made: Uint8Array[] = []
  let failure: Error | undefined
  let isClosed = false
  /** Resolves the waiting call, since a failed stream does not call back for the last write. */
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
