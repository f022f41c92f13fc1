import { createLineFramer, messagesIn, type Message } from '../../wire/index.js'
import {
  type ServerExit,
  endServer,
  graceMs,
  within,
  type NotStarted,
  type ServerProcess,
  type StartServer,
  type Watchdog,
} from '../../transports/index.js'
import type { Utf8Watch } from '../utf8-watch.js'

export interface StdioServerHandlers {
  readonly watch: Utf8Watch
  onMessage(message: Message): void
  /** What it writes to stdout that is no message: a line with its end, or a part of one that is too long. */
  onNoise(bytes: Buffer): void
  /** What it writes to stderr. */
  onErrors(chunk: Buffer): void
  /** It is gone, and all that it said was told. */
  onExit(exit: ServerExit): void
}

/** A server that speaks stdio, one message after the other. */
export interface StdioServer {
  /** Resolves when the server has taken it, or is gone. */
  send(text: string): Promise<void>
  /** Stops reading what it says, or goes on. */
  hold(wait: boolean): void
  /** Ends it as clients do: its input first, then by signals. Resolves when it is gone. */
  stop(): Promise<void>
}

export async function startStdioServer(
  command: readonly string[],
  handlers: StdioServerHandlers,
  start: StartServer,
  watchdog?: Watchdog,
): Promise<StdioServer | NotStarted> {
  const found = await start(command, { ownGroup: true, ...(watchdog && { watchdog }) })
  if ('error' in found) return found
  const server: ServerProcess = found
  const framer = createLineFramer()
  const take = (frames: ReturnType<typeof framer.push>): void => {
    for (const frame of frames) {
      const bytes = Buffer.from(frame.bytes)
      const messages = frame.kind === 'line' ? messagesIn(bytes.toString('utf8')) : undefined
      // What is no message is not passed on: clients pass it over.
      if (!messages) handlers.onNoise(frame.kind === 'line' || frame.last ? endOfLine(bytes) : bytes)
      else handlers.watch(bytes)
      for (const message of messages ?? []) handlers.onMessage(message)
    }
  }
  server.stdout.on('data', (chunk: Buffer) => take(framer.push(chunk)))
  server.stdout.on('end', () => take(framer.end()))
  server.stderr.on('data', (chunk: Buffer) => handlers.onErrors(chunk))
  for (const stream of [server.stdin, server.stdout, server.stderr]) stream.on('error', () => undefined)
  const over = ended(server).then((exit) => handlers.onExit(exit))
  let stopping: Promise<void> | undefined

  async function stop(): Promise<void> {
    await endServer(server)
    await over
  }

  return {
    send: (text) => new Promise((resolve) => server.stdin.write(`${text}\n`, () => resolve())),
    hold(wait) {
      if (wait) server.stdout.pause()
      else server.stdout.resume()
    },
    stop: () => (stopping ??= stop()),
  }
}

function endOfLine(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.from('\n')])
}

/** Gone, with its output read; a child that it left may keep that open, and is not waited for. */
async function ended({ exited, stdin, stdout, stderr }: ServerProcess): Promise<ServerExit> {
  const read = new Promise((resolve) => stdout.once('close', resolve))
  const exit = await exited
  await within(read, graceMs / 4)
  for (const pipe of [stdin, stdout, stderr]) pipe.destroy()
  return exit
}
