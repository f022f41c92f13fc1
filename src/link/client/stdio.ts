import type { NotStarted, OwnServerOptions } from '../../transports/index.js'
import type { ClientConnection, ClientEvents } from '../link.js'
import { ServerLines } from './server-lines.js'

export interface StdioClientEvents extends ClientEvents {
  /** Output of the server on stderr, as it arrives. */
  stderr(bytes: Uint8Array): void
}

/** Starts a server as a client does, with one message per line on its pipes. */
export async function connectStdio(
  command: readonly string[],
  events: StdioClientEvents,
  options: OwnServerOptions = {},
): Promise<ClientConnection | NotStarted> {
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  let isClosing = false
  const server = await ServerLines.start(
    command,
    {
      line(frame) {
        const text = frame.kind === 'line' ? utf8.decode(frame.bytes) : ''
        if (text.trim() !== '') events.message(text, undefined)
      },
      stderr(bytes) {
        events.stderr(bytes)
      },
      ended(exit) {
        if (isClosing) return
        if (!exit) return events.ended('the server closed its stdout')
        const { exitCode, signal } = exit
        events.ended(
          `the server ${signal === undefined ? `exited with ${exitCode}` : `was ended by ${signal}`}`,
        )
      },
    },
    options,
  )
  if ('error' in server) return server
  return {
    send: ({ text }) => server.send(text),
    hold: (wait) => server.hold(wait),
    close() {
      isClosing = true
      return server.close()
    },
  }
}
