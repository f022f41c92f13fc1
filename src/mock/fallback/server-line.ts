import { startServer, startWatchdog, type ServerProcess } from '../../transports/index.js'
import { createLineFramer } from '../../wire/index.js'
import type { Writable } from 'node:stream'

/** A real server on stdio, one message a line. */
export interface ServerLine {
  /** Resolves when the next may be sent. */
  send(text: string): Promise<void>
  /** Ends as clients end servers: end of file, then SIGTERM, then SIGKILL. */
  close(): Promise<void>
}

/** Longer lines are passed over. */
const longestLine = 64 * 1024 * 1024
/** What official clients give a server for its end, each time. */
const patienceMs = 2_000

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
  // It may not end by itself when we are killed.
  const watchdog = startWatchdog()
  const server = await startServer(command)
  if ('error' in server) {
    watchdog.dismiss()
    return server
  }
  watchdog.watch(server.pid)
  server.stdin.on('error', () => undefined)
  server.stderr.on('error', () => undefined)
  server.stderr.pipe(errorOutput, { end: false })
  const read = readLines(server, take)
  void server.exited.then(async ({ exitCode, signal }) => {
    watchdog.dismiss()
    await read
    ended(signal === undefined ? `it ended with status ${exitCode}` : `it was ended by ${signal}`)
  })
  let closing: Promise<void> | undefined
  return {
    send(text) {
      if (server.stdin.destroyed || server.stdin.write(`${text}\n`)) return Promise.resolve()
      return new Promise((resolve) => {
        const done = (): void => {
          server.stdin.off('drain', done)
          server.stdin.off('close', done)
          resolve()
        }
        server.stdin.on('drain', done)
        server.stdin.on('close', done)
      })
    },
    close: () => (closing ??= closeServer(server)),
  }
}

async function readLines(server: ServerProcess, take: (text: string) => Promise<void>): Promise<void> {
  const framer = createLineFramer({ maxBytes: longestLine })
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

async function closeServer(server: ServerProcess): Promise<void> {
  server.stdin.end()
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await endsSoon(server)) return
    server.kill(signal)
  }
  await server.exited
}

async function endsSoon(server: ServerProcess): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), patienceMs)))
  const soon = await Promise.race([server.exited.then(() => true), late])
  clearTimeout(timer)
  return soon
}
