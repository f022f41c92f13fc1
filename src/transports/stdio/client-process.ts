import { spawn, type ChildProcess } from 'node:child_process'
import { exitOf, reasonNotStarted, type ProcessExit } from './process-end.js'
import type { NotStarted } from './server-process.js'
import { startWatchdog } from './watchdog.js'

/** A client started as a process, with our own stdin, stdout and stderr. */
export interface ClientProcess {
  readonly exited: Promise<ProcessExit>
  kill(signal: NodeJS.Signals): void
}

/** Resolves when the process is running, or with the reason why it could not start. */
export async function startClient(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<ClientProcess | NotStarted> {
  const [file = '', ...args] = command
  const watchdog = startWatchdog()
  try {
    const child = await spawnInherited(file, args, env)
    const gone = child.pid === undefined ? undefined : watchdog.watch(child.pid)
    const exited = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (code, signal) => resolve(exitOf(code, signal)))
    })
    await new Promise((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    // A signal that cannot be delivered causes an error later. The exit is what matters.
    child.on('error', () => undefined)
    void exited.then(() => {
      gone?.()
      watchdog.dismiss()
    })
    return { exited, kill: (signal) => void child.kill(signal) }
  } catch (cause) {
    watchdog.dismiss()
    return { error: reasonNotStarted(file, cause) }
  }
}

async function spawnInherited(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const options = { stdio: 'inherit', env } as const
  if (process.platform !== 'win32') return spawn(file, args, options)
  const { default: crossSpawn } = await import('cross-spawn')
  return crossSpawn(file, args, options)
}
