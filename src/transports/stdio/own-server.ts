/** A server as clients run it: it does not outlive us, gets whole lines, and is ended in order. */
import type { Writable } from 'node:stream'
import { createDrain } from './drain.js'
import {
  startServer,
  type NotStarted,
  type ServerProcess,
  type StartServerOptions,
} from './server-process.js'
import { startWatchdog } from './watchdog.js'

/** Time between the end of input, SIGTERM and SIGKILL, in milliseconds. The official clients wait as long. */
export const graceMs = 2_000

export type OwnServerOptions = Pick<StartServerOptions, 'env' | 'cwd'>

/** Like `startServer`. The server is ended even when we are killed. */
export async function startOwnServer(
  command: readonly string[],
  options: OwnServerOptions = {},
): Promise<ServerProcess | NotStarted> {
  const watchdog = startWatchdog()
  const server = await startServer(command, { ...options, watchdog })
  if ('error' in server) {
    watchdog.dismiss()
    return server
  }
  void server.exited.then(() => watchdog.dismiss())
  return server
}

/** Ends a server as clients do: first its input, then by signals. Resolves when the process is gone. */
export async function endServer(server: ServerProcess): Promise<void> {
  server.stdin.end()
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await within(server.exited, graceMs)) return
    server.kill(signal)
  }
  await server.exited
}

/** Writes lines. Resolves when the next one may be written, or the stream is closed or broken. */
export function createLineWriter(stdin: Writable): (text: string) => Promise<void> {
  const drained = createDrain(stdin)
  return (text) => (stdin.destroyed || stdin.write(`${text}\n`) ? Promise.resolve() : drained())
}

/** Whether the promise resolves within this time. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
