/** The longest delay of a Node timer. */
export const longestTimerMs = 2 ** 31 - 1

export interface DeadlineOptions {
  /** Aborts after this time. @default never */
  readonly ms?: number
  /** Aborts with this signal. */
  readonly signal?: AbortSignal
}

/** A signal with its timer and its listener. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Clears the timer and the listener; the signal does not abort from then on. Can be called twice. */
  close(): void
}

/**
 * A signal that aborts after a time, or together with another signal. The timer keeps the signal alive until `close`.
 *
 * Node 20 references `AbortSignal.timeout` and `AbortSignal.any` weakly: a composed signal can be garbage-collected
 * together with its timeout, and the call that waits for it never ends.
 */
export function createDeadline({ ms, signal }: DeadlineOptions): Deadline {
  const controller = new AbortController()
  const abort = (): void => {
    close()
    controller.abort(signal?.aborted ? signal.reason : undefined)
  }
  const close = (): void => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
  const timer = ms === undefined ? undefined : setTimeout(abort, Math.min(ms, longestTimerMs))
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  return { signal: controller.signal, close }
}
