import {
  createLineWriter,
  endServer,
  graceMs,
  startOwnServer,
  within,
  type NotStarted,
  type OwnServerOptions,
  type ServerExit,
  type ServerProcess,
  type StartServer,
  type Watchdog,
} from '../../transports/index.js'
import { LineFramer, type LineFrame } from '../../wire/index.js'
import { Flow } from './flow.js'

export interface ServerLinesOptions extends OwnServerOptions {
  /** @default a process with our own watchdog */
  readonly start?: StartServer
  readonly watchdog?: Watchdog | undefined
}

export interface ServerLinesHandlers {
  /** A line of stdout, or a piece of an overlong one. The next one waits for the promise. */
  line(frame: LineFrame): Promise<void> | void
  /** Output on stderr as it arrives. The next chunk waits for the promise. */
  stderr(bytes: Buffer): Promise<void> | void
  /** The output has ended, also after `close`. @param exit undefined when the process lives without stdout */
  ended(exit: ServerExit | undefined): void
}

/** A server process of our own, with one message per line on its pipes. */
export class ServerLines {
  readonly #server: ServerProcess
  readonly #handlers: ServerLinesHandlers
  readonly #flow = new Flow()
  readonly #over: Promise<void>
  #isEnded = false
  #closed: Promise<void> | undefined
  /** Resolves when the next message may be sent, or the server is gone. */
  readonly send: (text: string) => Promise<void>

  private constructor(server: ServerProcess, handlers: ServerLinesHandlers) {
    this.#server = server
    this.#handlers = handlers
    this.send = createLineWriter(server.stdin)
    // The end of the server is reported once, by its exit.
    server.stdin.on('error', () => undefined)
    server.stderr.on('data', (chunk: Buffer) => {
      const taken = handlers.stderr(chunk)
      if (!taken) return
      server.stderr.pause()
      void taken.then(() => server.stderr.resume())
    })
    server.stderr.on('error', () => undefined)
    this.#over = this.#watch(this.#read())
  }

  static async start(
    command: readonly string[],
    handlers: ServerLinesHandlers,
    { start, watchdog, ...options }: ServerLinesOptions = {},
  ): Promise<ServerLines | NotStarted> {
    const server = start
      ? await start(command, { ...options, ownGroup: true, ...(watchdog && { watchdog }) })
      : await startOwnServer(command, options)
    return 'error' in server ? server : new ServerLines(server, handlers)
  }

  /** Stops reading stdout, or resumes. */
  hold(wait: boolean): void {
    this.#flow.hold(wait)
  }

  /** Ends its input, then signals it, as clients do. Resolves when it is gone and all was reported. */
  close(): Promise<void> {
    return (this.#closed ??= this.#end())
  }

  async #end(): Promise<void> {
    this.#flow.hold(false)
    await endServer(this.#server)
    await this.#over
  }

  async #read(): Promise<void> {
    const framer = new LineFramer()
    try {
      for await (const chunk of this.#server.stdout) {
        await this.#takeAll(framer.push(chunk as Buffer))
        await this.#flow.opened()
      }
    } catch {
      // The output broke; the exit reports how the server ended.
    }
    await this.#takeAll(framer.end())
  }

  async #takeAll(frames: readonly LineFrame[]): Promise<void> {
    for (const frame of frames) {
      const taken = this.#isEnded ? undefined : this.#handlers.line(frame)
      if (taken) await taken
    }
  }

  async #watch(read: Promise<void>): Promise<void> {
    const { exited, stdin, stdout, stderr } = this.#server
    // The process may still run, but its messages can no longer arrive.
    void read.then(async () => {
      if (!(await within(exited, graceMs))) this.#tell(undefined)
    })
    const exit = await exited
    // A child process may hold the output open, and is not waited for.
    await within(read, graceMs)
    this.#tell(exit)
    for (const pipe of [stdin, stdout, stderr]) pipe.destroy()
  }

  #tell(exit: ServerExit | undefined): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#handlers.ended(exit)
  }
}
