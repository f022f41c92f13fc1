import type { Writable } from 'node:stream'

/** Resolves when more may be written, or the stream is closed or broken. Any number of callers may wait. */
export function createDrain(to: Writable): () => Promise<void> {
  let draining: Promise<void> | undefined
  return () =>
    (draining ??= new Promise<void>((resolve) => {
      const done = (): void => {
        for (const event of ['drain', 'close', 'error']) to.off(event, done)
        draining = undefined
        resolve()
      }
      for (const event of ['drain', 'close', 'error']) to.on(event, done)
    }))
}
