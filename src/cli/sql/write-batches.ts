import os from 'node:os'
import { Worker } from 'node:worker_threads'
import { WiretapeError } from '../../model/index.js'
import { wipeThreads } from '../io.js'
import { writeBatch, type BatchAnswer, type BatchOrder, type BatchResult } from './batch.js'

/** More threads would compete for the disk. */
const mostThreads = 4

/** `isDead` if a thread died while it wrote the batch: one of its recordings may need too much memory. */
export type WrittenBatch = BatchResult & { readonly isDead?: true }

/**
 * Writes batches. Several are written in threads.
 *
 * @param done called after each
 * @param inThreads uses a thread for a single batch too
 * @throws WiretapeError `unwritable`
 */
export async function writeBatches(
  orders: readonly BatchOrder[],
  done: (order: number, result: WrittenBatch) => Promise<void>,
  inThreads: boolean,
): Promise<void> {
  const threads = Math.min(orders.length, os.availableParallelism(), mostThreads)
  const queue = orders.entries()
  if (threads < 2 && !inThreads) {
    for (const [i, order] of queue) await done(i, await writeBatch(order))
    return
  }
  await Promise.all(Array.from({ length: threads }, () => writeQueued(queue, done)))
}

/** Writes batches of the queue in a thread, and in another one after it died. */
async function writeQueued(
  queue: Iterable<[number, BatchOrder]>,
  done: (order: number, result: WrittenBatch) => Promise<void>,
): Promise<void> {
  let worker: Worker | undefined
  let ending: Promise<void> | undefined
  try {
    for (const [i, order] of queue) {
      worker ??= new Worker(new URL('./batch-worker.js', import.meta.url), { execArgv: [] })
      const result = await answerOf(worker, order)
      if (result.isDead) worker = undefined
      await ending
      // Meanwhile, the thread writes the next batch.
      ending = done(i, result)
      ending.catch(() => undefined)
    }
    await ending
  } finally {
    await worker?.terminate()
    wipeThreads()
  }
}

function answerOf(worker: Worker, order: BatchOrder): Promise<WrittenBatch> {
  return new Promise((resolve, reject) => {
    const listeners = {
      message: (answer: BatchAnswer) => {
        settle()
        if ('refused' in answer) reject(new WiretapeError(answer.refused, answer.message))
        else resolve(answer)
      },
      error: (error: Error & { readonly code?: string }) => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return died('out of memory')
        settle()
        reject(error)
      },
      exit: (code: number) => died(`exit code ${code}`),
    }
    function settle(): void {
      for (const [event, listener] of Object.entries(listeners)) worker.off(event, listener)
    }
    function died(reason: string): void {
      settle()
      const failures = order.members.map(({ name, part }) => ({
        part,
        code: 'unreadable' as const,
        message: `cannot index ${name}: its thread ended (${reason})`,
      }))
      resolve({ sizes: undefined, failures, isDead: true })
    }
    for (const [event, listener] of Object.entries(listeners)) worker.on(event, listener)
    worker.postMessage(order)
  })
}
