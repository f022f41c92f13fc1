import { rmSync } from 'node:fs'

const endings: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Files and folders that are useless without this process. */
const unfinished = new Set<string>()

/**
 * Removes a file or folder when a signal ends the process before `close`. The signal then ends the process as
 * usual. If there are other listeners for the signal, they end the process and close open files.
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

/** Runs before all other listeners, since some of those unregister themselves. */
function take(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return
  for (const path of unfinished) {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // The file stays; the process must still end.
    }
  }
  unfinished.clear()
  giveBack()
  process.kill(process.pid, signal)
}
