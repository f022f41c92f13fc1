import { rmSync } from 'node:fs'

const endings: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Files and folders that are nothing without us. */
const unfinished = new Set<string>()

/**
 * Removes a file or folder when a signal ends the process before `close`. The signal ends it as ever then; where
 * somebody else listens for signals, it is theirs to end, and to close what is open.
 */
export function removedAtSignal(path: string): { close(): void } {
  if (unfinished.size === 0) for (const signal of endings) process.prependListener(signal, take)
  unfinished.add(path)
  return {
    close() {
      if (unfinished.delete(path) && unfinished.size === 0) giveBack()
    },
  }
}

function giveBack(): void {
  for (const signal of endings) process.off(signal, take)
}

/** Comes before all others, some of whom stop listening once they have heard. */
function take(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  for (const path of unfinished) {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // It stays; what is left of the process has to end.
    }
  }
  unfinished.clear()
  giveBack()
  process.kill(process.pid, signal)
}
