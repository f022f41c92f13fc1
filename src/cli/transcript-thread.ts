import os from 'node:os'
import { Worker } from 'node:worker_threads'
import { Irregular, type MessageBatch, type Profile } from '../formats/index.js'
import { threadedBytes } from './line-chunks.js'

/** Batches in memory at once. */
export const mostWaiting = 4

/** The file that a thread reads. */
export interface TranscriptOrder {
  readonly path: string
  readonly profile: Profile
  /** Batches that the other thread has not taken yet. The thread waits without an event loop. */
  readonly waiting: Int32Array<SharedArrayBuffer>
}

/** Whether a thread should read a file of this size. */
export function isWorthThread(sizeBytes: number): boolean {
  return sizeBytes >= threadedBytes && os.availableParallelism() > 1
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
  const batches: (MessageBatch | undefined)[] = []
  let isOver = false
  let wake = (): void => undefined
  const over = (): void => {
    isOver = true
    wake()
  }
  const worker = new Worker(new URL('./transcript-worker.js', import.meta.url), { execArgv: [], workerData })
  worker.on('error', over)
  worker.on('exit', over)
  worker.on('message', (batch: MessageBatch | undefined) => {
    batches.push(batch)
    wake()
  })
  try {
    for (;;) {
      if (batches.length === 0 && !isOver) await new Promise<void>((resolve) => (wake = resolve))
      if (batches.length === 0) throw new Irregular()
      const next = batches.shift()
      if (!next) return
      yield next
      Atomics.sub(waiting, 0, 1)
      Atomics.notify(waiting, 0)
    }
  } finally {
    await worker.terminate()
  }
}
