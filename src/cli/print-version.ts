import { exitCode } from './exit-codes.js'
import { say } from './io.js'
import { systemReason } from './system-reason.js'
import { readVersion } from './version.js'

/** Loads little, since scripts and clients use it to find the program. */
export function printVersion(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    say(`wiretape: cannot write to stdout: ${systemReason(error)}\n`)
    process.exitCode = exitCode.usage
  })
  process.stdout.write(`${readVersion()}\n`)
}
