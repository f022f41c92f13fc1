import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { MemorySocket } from './memory-socket.js'
import { exitOf, reasonNotStarted, type ProcessExit } from './process-end.js'
import { createServerPipes, type ServerPipes, type ServerPipesOptions } from './server-pipes.js'
import type { Watchdog } from './watchdog.js'

/** A server started as a process, with our ends of its three pipes. */
export interface ServerProcess {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves once, when the process is gone. Its output may still have unread bytes. */
  readonly exited: Promise<ServerExit>
  /** Signals the process group where the server leads one. False when the process is gone. */
  kill(signal: NodeJS.Signals): boolean
}

/** How a server ended. */
export type ServerExit = ProcessExit

/** Why a server could not be started. */
export interface NotStarted {
  readonly error: string
}

export interface StartServerOptions extends ServerPipesOptions {
  /**
   * The server leads its own process group: signals reach its children too, and signals of a terminal reach only
   * us.
   * @default false
   */
  readonly ownGroup?: boolean
  /** Learns the pid as soon as there is a process, and learns when it is gone. */
  readonly watchdog?: Watchdog
  /** @default our own */
  readonly env?: NodeJS.ProcessEnv
  /** @default our own */
  readonly cwd?: string
}

/** A way to start servers. */
export type StartServer = (
  command: readonly string[],
  options?: StartServerOptions,
) => Promise<ServerProcess | NotStarted>

/**
 * Starts a server as the client would: same environment, same working directory, no shell. Resolves when the
 * process is running, or with the reason why it could not start. Except on Windows, it is started before this returns.
 */
export async function startServer(
  command: readonly string[],
  given: StartServerOptions = {},
): Promise<ServerProcess | NotStarted> {
  const [file = '', ...args] = command
  const { ownGroup = false, watchdog, env, cwd, output } = given
  const pipes = createServerPipes(given)
  let child: ChildProcess
  let stdout: Readable | null | undefined
  const options = { ...spawnOptions(pipes), ...(env && { env }), ...(cwd !== undefined && { cwd }) }
  try {
    // In the same turn: if we are killed right after the start, the watchdog must know the process.
    child =
      process.platform === 'win32'
        ? await spawnOnWindows(file, args, options)
        : spawn(file, args, { ...options, detached: ownGroup })
    stdout = pipes.stdout?.own ?? child.stdout
    // On Windows, something may have been read already.
    if (stdout && stdout === child.stdout && output && process.platform !== 'win32')
      stdout = MemorySocket.instead(stdout, output)
  } catch (cause) {
    pipes.discard()
    return { error: reasonNotStarted(file, cause) }
  }
  // At the exit, Node would read what is left in these streams, and drop what nobody reads yet. Without descriptors,
  // there are none, whatever its types say.
  const streams: unknown[] | undefined = child.stdio
  streams?.fill(null)
  const isGone = child.pid === undefined ? undefined : watchdog?.watch(child.pid)
  const exited = new Promise<ServerExit>((resolve) => {
    child.once('exit', (code, signal) => {
      isGone?.()
      resolve(exitOf(code, signal))
    })
  })
  const failed = await new Promise<unknown>((resolve) => {
    child.once('spawn', () => resolve(undefined))
    child.once('error', resolve)
  })
  if (failed !== undefined) {
    pipes.discard()
    return { error: reasonNotStarted(file, failed) }
  }
  pipes.closeChildEnds()
  // A signal that cannot be delivered causes an error later. The exit is what matters.
  child.on('error', () => undefined)
  return {
    pid: child.pid!,
    stdin: pipes.stdin?.own ?? child.stdin!,
    stdout: stdout!,
    stderr: pipes.stderr?.own ?? child.stderr!,
    exited,
    kill: (signal) => (ownGroup && killGroup(child.pid!, signal)) || child.kill(signal),
  }
}

/** False when the group does not exist. */
function killGroup(pid: number, signal: NodeJS.Signals): boolean {
  if (process.platform === 'win32') return false
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

function spawnOptions({ stdin, stdout, stderr }: ServerPipes): SpawnOptions {
  return { stdio: [stdin, stdout, stderr].map((pipe) => pipe?.child ?? ('pipe' as const)), windowsHide: true }
}

/** Finds .cmd files and shebangs, and quotes for cmd.exe. Untested on Windows. */
async function spawnOnWindows(file: string, args: string[], options: SpawnOptions): Promise<ChildProcess> {
  const { default: crossSpawn } = await import('cross-spawn')
  return crossSpawn(file, args, options)
}
