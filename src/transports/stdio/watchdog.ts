import { spawn } from 'node:child_process'

/** Ends a client when we are killed and cannot do so ourselves. */
export interface Watchdog {
  /** Whom to end. */
  watch(pid: number): void
  /** There is nobody to end any more. */
  dismiss(): void
}

/**
 * A second line never comes from a starter that was killed. Its client would stay behind with nobody to speak through: it
 * is told as by a terminal that closes, and then as by a service manager, since shells listen to the first only.
 */
const script = `trap '' INT QUIT TERM HUP
read -r pid && { read -r line || { kill -HUP "$pid"; kill -TERM "$pid"; }; }`

/** Needs a shell; where there is none, nobody watches. */
export function startWatchdog(): Watchdog {
  if (process.platform === 'win32') return { watch: () => undefined, dismiss: () => undefined }
  const shell = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'] })
  let watching = false
  shell.on('error', () => undefined)
  shell.stdin.on('error', () => undefined)
  shell.unref()
  return {
    watch(pid) {
      watching = true
      // A few bytes into an empty pipe.
      shell.stdin.write(`${pid}\n`)
    },
    dismiss: () => void shell.stdin.end(watching ? '\n' : ''),
  }
}
