import os from 'node:os'

/** Handles Ctrl-C, SIGTERM and SIGHUP (closed terminal) while a command needs to end cleanly. */
export interface Interrupt {
  readonly signal: AbortSignal
  /** 130 for Ctrl-C. */
  exitCode(): number
  /** Restores the default: a signal ends the process. */
  close(): void
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** @param also aborts like Ctrl-C */
export function onInterrupt(also?: AbortSignal): Interrupt {
  const aborting = new AbortController()
  const abort = (): void => aborting.abort()
  let which: NodeJS.Signals = 'SIGINT'
  const take = (signal: NodeJS.Signals): void => {
    which = signal
    // A second signal ends the process. Deferred, because a later listener of this signal would end the process if it
    // were the only one.
    setImmediate(close)
    aborting.abort()
  }
  function close(): void {
    also?.removeEventListener('abort', abort)
    for (const signal of signals) process.off(signal, take)
  }
  for (const signal of signals) process.on(signal, take)
  also?.addEventListener('abort', abort)
  if (also?.aborted) abort()
  return { signal: aborting.signal, exitCode: () => 128 + os.constants.signals[which], close }
}
