import type { NotStarted, ServerExit, StartServer, Watchdog } from '../../transports/index.js'
import { messagesIn, type Message } from '../../wire/index.js'
import { ServerLines } from '../client/server-lines.js'
import type { Utf8Watch } from '../utf8-watch.js'

export interface StdioServerHandlers {
  readonly watch: Utf8Watch
  onMessage(message: Message): void
  /** Output on stdout that is not a message: a line with its end, or a part of an overlong one. */
  onNoise(bytes: Buffer): void
  /** Output on stderr. */
  onErrors(chunk: Buffer): void
  /** The output has ended. @param exit undefined when the process still runs without stdout */
  onExit(exit: ServerExit | undefined): void
}

/** Starts a server behind a bridge, and reports its messages one by one. */
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
        // Noise is not forwarded, because clients skip it anyway.
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
