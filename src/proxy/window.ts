/** Bytes that may wait for the tape. Above this limit, senders have to wait. */
const queueBytes = 16 * 1024 * 1024
/**
 * Senders also wait while the queue exceeds what the recording thread processes in this time at its current pace. It is
 * slow while its code is new, and where it shares a CPU.
 */
const windowMs = 25
/** Bytes that may be queued however slow the thread is. */
const smallestWindow = 512 * 1024
/** Bytes that may be queued before the pace is known. */
export const firstWindow = 64 * 1024
/** Senders continue when half the window is queued. The recording thread must not run out of batches until they do. */
export const batchesInWindow = 4

/**
 * Bytes that may be queued at a pace: a whole number for each batch. With fractions, the engine would compile the code of
 * the recorder again.
 */
export function windowFor(bytesPerMs: number): number {
  const perBatch = Math.round((bytesPerMs * windowMs) / batchesInWindow)
  return Math.min(queueBytes, Math.max(smallestWindow, perBatch * batchesInWindow))
}
