import os from 'node:os'

/** Ctrl-C, SIGTERM, and SIGHUP (the terminal was closed), as long as a command wants to end by itself. */
export interface Interrupt {
  readonly signal: AbortSignal
  /** 130 for Ctrl-C. */
  exitCode(): number
  /** From now on a signal ends the process as ever. */
  close(): void
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** @param also aborts too, as Ctrl-C does */
export function onInterrupt(also?: AbortSignal): Interrupt {
  const aborting = new AbortController()
  const abort = (): void => aborting.abort()
  let which: NodeJS.Signals = 'SIGINT'
  const take = (signal: NodeJS.Signals): void => {
    which = signal
    // The next one ends the process, should the first not be enough. Not at once: who else listens to this one, and would
    // end the process where it was alone, comes after us.
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
