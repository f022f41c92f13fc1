import { join } from 'node:path'
import { makePrivate } from '../control/index.js'
import { EarlyThread, PooledMemory, RegionPool } from '../proxy/index.js'
import { isForegroundGroup, startServer, type NotStarted, type ServerProcess } from '../transports/index.js'
import { forwardSignals, isEnding } from './signals.js'

/** The command of a server to start, and the registry. */
export interface ServerStartOptions {
  /** The server's argv, at least the program. */
  readonly command: readonly string[]
  /** Folder in which live captures are registered; pipes for later servers are kept in it. */
  readonly registryFolder: string
}

/**
 * A server's process, the signals for it, and the thread that will record it. All can be started before the rest of the
 * recorder is loaded: nothing is read from the process until something connects to it.
 */
export class ServerStart {
  /** Memory that the server's output is read into. */
  readonly pool = new RegionPool()
  readonly #signals: { close(): void }
  readonly #early: NodeJS.Signals[] = []
  #send: ((signal: NodeJS.Signals) => void) | undefined
  #starting: Promise<ServerProcess | NotStarted> | undefined
  #thread: EarlyThread | undefined

  constructor() {
    this.#signals = forwardSignals(isForegroundGroup, (signal) => {
      if (this.#send) this.#send(signal)
      else this.#early.push(signal)
    })
  }

  /** Undefined before `start`, or if there can be no thread. */
  get thread(): EarlyThread | undefined {
    return this.#thread
  }

  /** Starts the process and then the thread, unless they are started already. */
  start({ command, registryFolder }: ServerStartOptions): Promise<ServerProcess | NotStarted> {
    if (this.#starting) return this.#starting
    // The process first: with more memory and threads here, starting it would take longer.
    this.#starting = startServer(command, {
      output: new PooledMemory(this.pool),
      ...sparePipesIn(registryFolder),
    })
    // The error is for callers that wait. Without a caller, it must not end the process.
    this.#starting.catch(() => undefined)
    try {
      this.#thread = new EarlyThread()
    } catch {
      // The recorder starts one, and reports why it cannot.
    }
    return this.#starting
  }

  /** The process is in use: it is not ended by `abandon`. @param send gets all signals, also those that came earlier */
  connect(send: (signal: NodeJS.Signals) => void): void {
    this.#send = send
    for (const signal of this.#early.splice(0)) send(signal)
  }

  /**
   * Ends a process that nothing was connected to, and a thread that has not begun. Signals act as usual again, also one
   * that came for that process and ends programs. Can be called at any time, and twice.
   */
  async abandon(): Promise<void> {
    this.#thread?.close()
    if (!this.#send) {
      const server = await this.#starting?.catch(() => undefined)
      if (server && !('error' in server)) {
        server.kill('SIGKILL')
        for (const pipe of [server.stdin, server.stdout, server.stderr]) pipe.destroy()
      }
    }
    this.#signals.close()
    const ending = this.#early.splice(0).find((signal) => isEnding(signal) || signal === 'SIGHUP')
    if (ending) process.kill(process.pid, ending)
  }
}

/** Without a registry, or if its folder of pipes belongs to another user, no pipes are kept. */
function sparePipesIn(registryFolder: string): { readonly spareFolder?: string } {
  const spareFolder = join(registryFolder, 'pipes')
  return makePrivate(spareFolder) ? { spareFolder } : {}
}

/** Folder in which this user's captures are registered, inside the data folder. */
export function registryFolderIn(dataFolder: string): string {
  return join(dataFolder, 'live')
}
