import type { ClientConnection, ClientEvents } from '../http-client/client-frame.js'
import { createLineFramer, type LineFrame } from '../../wire/index.js'
import { startServer, type NotStarted } from './server-process.js'
import { startWatchdog } from './watchdog.js'

/** Longer lines are passed over. */
const longestLine = 64 * 1024 * 1024
/** As the official clients do: first the end of its input, then SIGTERM, then SIGKILL. */
const patienceMs = 2_000

export interface StdioClientEvents extends ClientEvents {
  /** What the server writes to stderr, as it comes. */
  stderr(bytes: Uint8Array): void
}

/** Starts a server as a client does, with one message a line on its pipes. */
export async function connectStdio(
  command: readonly string[],
  events: StdioClientEvents,
): Promise<ClientConnection | NotStarted> {
  // The server may not end by itself when we are killed.
  const watchdog = startWatchdog()
  const started = await startServer(command)
  if ('error' in started) {
    watchdog.dismiss()
    return started
  }
  const server = started
  const { stdin, stdout, stderr } = server
  watchdog.watch(server.pid)
  const framer = createLineFramer({ maxBytes: longestLine })
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  let closing = false
  let closed: Promise<void> | undefined

  function take(frame: LineFrame): void {
    if (frame.kind === 'piece') return
    const text = utf8.decode(frame.bytes)
    if (text.trim() !== '') events.message(text, undefined)
  }

  const outputEnded = new Promise<void>((resolve) => {
    stdout.on('data', (chunk: Buffer) => {
      for (const frame of framer.push(chunk)) take(frame)
    })
    stdout.once('error', () => resolve())
    stdout.once('close', () => resolve())
    stdout.once('end', () => {
      for (const frame of framer.end()) take(frame)
      resolve()
    })
  })
  stderr.on('data', (chunk: Buffer) => events.stderr(chunk))
  stderr.on('error', () => undefined)
  // A server that is gone is told once, by its exit.
  stdin.on('error', () => undefined)

  const gone = server.exited.then(async ({ exitCode, signal }) => {
    watchdog.dismiss()
    // A process that it started may hold its output open.
    await Promise.race([outputEnded, wait(patienceMs)])
    const how = signal === undefined ? `exited with ${exitCode}` : `was ended by ${signal}`
    if (!closing) events.ended(`the server ${how}`)
  })

  /** Until the server has taken what was written. */
  let room: Promise<void> | undefined

  async function close(): Promise<void> {
    closing = true
    stdin.end()
    if (!(await ends(server.exited))) server.kill('SIGTERM')
    if (!(await ends(server.exited))) server.kill('SIGKILL')
    await gone
    for (const stream of [stdin, stdout, stderr]) stream.destroy()
  }

  return {
    send({ text }) {
      if (stdin.destroyed || stdin.write(`${text}\n`)) return Promise.resolve()
      // One for all who wait: a server may ask more than it reads.
      room ??= new Promise<void>((resolve) => {
        const done = (): void => {
          for (const event of ['drain', 'close', 'error']) stdin.off(event, done)
          room = undefined
          resolve()
        }
        for (const event of ['drain', 'close', 'error']) stdin.on(event, done)
      })
      return room
    },
    close: () => (closed ??= close()),
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}

async function ends(exited: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), patienceMs)))
  try {
    return await Promise.race([exited.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
