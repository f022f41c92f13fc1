import { Irregular, type MessageBatch, type Profile } from '../formats/index.js'
import { threadMessages } from './thread-messages.js'

/** Batches in memory at once. */
export const mostWaiting = 4

/** The file that a thread reads. */
export interface TranscriptOrder {
  readonly path: string
  readonly profile: Profile
  /** Batches that the other thread has not taken yet. The thread waits without an event loop. */
  readonly waiting: Int32Array<SharedArrayBuffer>
}

/**
 * The messages of a file of lines, read by a thread.
 *
 * @throws Irregular if it cannot read them
 */
export async function* threadBatches(
  path: string,
  profile: Profile,
): AsyncGenerator<MessageBatch, void, undefined> {
  const waiting = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const workerData: TranscriptOrder = { path, profile, waiting }
  const script = new URL('./transcript-worker.js', import.meta.url)
  for await (const batch of threadMessages<MessageBatch | undefined>(script, workerData)) {
    if (!batch) return
    yield batch
    Atomics.sub(waiting, 0, 1)
    Atomics.notify(waiting, 0)
  }
  throw new Irregular()
}
