import type { NotStarted, ServerExit, StartServer, Watchdog } from '../../transports/index.js'
import { messagesIn, type Message } from '../../wire/index.js'
import { ServerLines } from '../client/server-lines.js'
import type { Utf8Watch } from '../utf8-watch.js'

export interface StdioServerHandlers {
  readonly watch: Utf8Watch
  onMessage(message: Message): void
  /** What it writes to stdout that is no message: a line with its end, or a part of one that is too long. */
  onNoise(bytes: Buffer): void
  /** What it writes to stderr. */
  onErrors(chunk: Buffer): void
  /** Nothing more comes. @param exit undefined when it lives on without its stdout */
  onExit(exit: ServerExit | undefined): void
}

/** Starts a server behind a bridge: what it says is told message by message. */
export function startStdioServer(
  command: readonly string[],
  handlers: StdioServerHandlers,
  start: StartServer,
  watchdog?: Watchdog,
): Promise<ServerLines | NotStarted> {
  return ServerLines.start(
    command,
    {
      line(frame) {
        const bytes = Buffer.from(frame.bytes)
        const messages = frame.kind === 'line' ? messagesIn(bytes.toString('utf8')) : undefined
        // What is no message is not passed on: clients pass it over.
        if (!messages) handlers.onNoise(frame.kind === 'line' || frame.last ? endOfLine(bytes) : bytes)
        else handlers.watch(bytes)
        for (const message of messages ?? []) handlers.onMessage(message)
      },
      stderr(chunk) {
        handlers.onErrors(chunk)
      },
      ended: (exit) => handlers.onExit(exit),
    },
    { start, watchdog },
  )
}

function endOfLine(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.from('\n')])
}
