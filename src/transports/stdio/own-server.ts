/** What clients do with a server that they start: it does not outlive them, is written to line by line, and is ended. */
import type { Writable } from 'node:stream'
import { createDrain } from './drain.js'
import {
  startServer,
  type NotStarted,
  type ServerProcess,
  type StartServerOptions,
} from './server-process.js'
import { startWatchdog } from './watchdog.js'

/** Between the end of its input, SIGTERM and SIGKILL: what the official clients give a server. */
export const graceMs = 2_000

export type OwnServerOptions = Pick<StartServerOptions, 'env' | 'cwd'>

/** As `startServer`; the server is ended also when we are killed and cannot do so ourselves. */
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

/** Ends it as clients do: its input first, then by signals. Resolves when it is gone. */
export async function endServer(server: ServerProcess): Promise<void> {
  server.stdin.end()
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    if (await within(server.exited, graceMs)) return
    server.kill(signal)
  }
  await server.exited
}

/** Writes lines; resolves when the next may be written, or nobody reads any more. */
export function createLineWriter(stdin: Writable): (text: string) => Promise<void> {
  const drained = createDrain(stdin)
  return (text) => (stdin.destroyed || stdin.write(`${text}\n`) ? Promise.resolve() : drained())
}

/** Whether it comes in time. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
