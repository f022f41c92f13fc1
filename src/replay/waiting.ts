import { longestTimerMs } from '../transports/index.js'

/** Waits for a condition to become true. */
export interface Waiting {
  /** A condition may have become true. */
  changed(): void
  /** Resolves when `test` is true, when the signal is aborted, or after `ms`. */
  until(test: () => boolean, ms?: number): Promise<void>
}

export function createWaiting(signal: AbortSignal): Waiting {
  const waiters = new Set<() => void>()
  const changed = (): void => {
    for (const check of waiters) check()
  }
  signal.addEventListener('abort', changed)
  return {
    changed,
    until(test, ms = Infinity) {
      if (test() || signal.aborted || ms <= 0) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = ms === Infinity ? undefined : setTimeout(finish, Math.min(ms, longestTimerMs))
        function finish(): void {
          clearTimeout(timer)
          waiters.delete(check)
          resolve()
        }
        function check(): void {
          if (test() || signal.aborted) finish()
        }
        waiters.add(check)
      })
    },
  }
}
