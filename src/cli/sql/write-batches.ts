import os from 'node:os'
import { Worker } from 'node:worker_threads'
import { writeBatch, type BatchOrder, type BatchResult } from './batch.js'

/** More threads would compete for the disk. */
const mostThreads = 4

/**
 * Writes batches, several of them in threads.
 *
 * @returns the result of each, in order
 * @throws WiretapeError `unwritable`
 */
export async function writeBatches(orders: readonly BatchOrder[]): Promise<BatchResult[]> {
  const results: BatchResult[] = []
  const threads = Math.min(orders.length, os.availableParallelism(), mostThreads)
  if (threads < 2) {
    for (const order of orders) results.push(await writeBatch(order))
    return results
  }
  const queue = orders.entries()
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const worker = new Worker(new URL('./batch-worker.js', import.meta.url), { execArgv: [] })
      try {
        for (const [i, order] of queue) results[i] = await answerOf(worker, order)
      } finally {
        await worker.terminate()
      }
    }),
  )
  return results
}

function answerOf(worker: Worker, order: BatchOrder): Promise<BatchResult> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.once('message', (result: BatchResult) => {
      worker.off('error', reject)
      resolve(result)
    })
    worker.postMessage(order)
  })
}
