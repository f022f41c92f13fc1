import { createLineWriter, endServer, startOwnServer, type ServerProcess } from '../../transports/index.js'
import { createLineFramer } from '../../wire/index.js'
import type { Writable } from 'node:stream'

/** A real server on stdio, one message a line. */
export interface ServerLine {
  /** Resolves when the next may be sent. */
  send(text: string): Promise<void>
  /** Ends as clients end servers: end of file, then SIGTERM, then SIGKILL. */
  close(): Promise<void>
}

/**
 * @param take called for each line, one after the other
 * @param ended called once, with how it ended
 * @returns the server, or why it cannot be started
 */
export async function openServerLine(
  command: readonly string[],
  errorOutput: Writable,
  take: (text: string) => Promise<void>,
  ended: (why: string) => void,
): Promise<ServerLine | { readonly error: string }> {
  const server = await startOwnServer(command)
  if ('error' in server) return server
  server.stdin.on('error', () => undefined)
  server.stderr.on('error', () => undefined)
  server.stderr.pipe(errorOutput, { end: false })
  const read = readLines(server, take)
  void server.exited.then(async ({ exitCode, signal }) => {
    await read
    ended(signal === undefined ? `it ended with status ${exitCode}` : `it was ended by ${signal}`)
  })
  let closing: Promise<void> | undefined
  return {
    send: createLineWriter(server.stdin),
    close: () => (closing ??= endServer(server)),
  }
}

async function readLines(server: ServerProcess, take: (text: string) => Promise<void>): Promise<void> {
  const framer = createLineFramer()
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  try {
    for await (const chunk of server.stdout) {
      for (const frame of framer.push(chunk as Buffer)) {
        if (frame.kind === 'line') await take(utf8.decode(frame.bytes))
      }
    }
  } catch {
    // Its output broke off: how it ended is told by its exit.
  }
}
