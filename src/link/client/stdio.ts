import type { ClientConnection, ClientEvents } from '../link.js'
import { createLineFramer, type LineFrame } from '../../wire/index.js'
import {
  createLineWriter,
  endServer,
  graceMs,
  startOwnServer,
  within,
  type OwnServerOptions,
  type NotStarted,
} from '../../transports/index.js'

export interface StdioClientEvents extends ClientEvents {
  /** What the server writes to stderr, as it comes. */
  stderr(bytes: Uint8Array): void
}

/** Starts a server as a client does, with one message a line on its pipes. */
export async function connectStdio(
  command: readonly string[],
  events: StdioClientEvents,
  options: OwnServerOptions = {},
): Promise<ClientConnection | NotStarted> {
  const started = await startOwnServer(command, options)
  if ('error' in started) return started
  const server = started
  const { stdin, stdout, stderr } = server
  const write = createLineWriter(stdin)
  const framer = createLineFramer()
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
    // A process that it started may hold its output open.
    await within(outputEnded, graceMs)
    const how = signal === undefined ? `exited with ${exitCode}` : `was ended by ${signal}`
    if (!closing) events.ended(`the server ${how}`)
  })

  // It may live on; but nothing that it says can reach us any more.
  const silent = outputEnded.then(async () => {
    if (!(await within(server.exited, graceMs)) && !closing) events.ended('the server closed its stdout')
  })

  async function close(): Promise<void> {
    closing = true
    await endServer(server)
    await gone
    // Whoever holds its output open is not waited for: this ends it for us.
    for (const stream of [stdin, stdout, stderr]) stream.destroy()
    await silent
  }

  return {
    send: ({ text }) => write(text),
    close: () => (closed ??= close()),
  }
}
