import net from 'node:net'
import {
  decodeServerLine,
  encodeLine,
  isLineFault,
  longestLine,
  protocolVersion,
  type CommandBody,
  type Failure,
  type Reply,
  type Role,
  type ServerEvent,
  type ServerHello,
  type Success,
} from '../control-schema/index.js'
import { WiretapeError } from '../model/index.js'
import { LineFramer } from '../wire/index.js'
import { Refusal } from './host.js'
import { isOwnSocket } from './socket-path.js'

/** Events buffered for the reader; above this limit, reading from the capture pauses. */
const mostWaiting = 2_000
/** A capture sends hello at once; a busy one within this time. */
const helloWithinMs = 10_000

export interface ConnectOptions {
  readonly role: Role
  /** Name of the program that attaches, for people. */
  readonly name?: string
}

/** A connection to a running capture. */
export interface CaptureConnection {
  readonly hello: ServerHello
  /**
   * Events of the capture, in order, for a single reader. Ends with the connection: after an `ended` event the
   * capture has ended; without one, the connection was lost.
   */
  readonly events: AsyncIterable<ServerEvent>
  /** Resolves with the result, rejects with a `Refusal`. */
  send(command: CommandBody): Promise<Success>
  /** Detaches. Can be called twice. */
  close(): void
}

/**
 * Attaches to the capture that listens at `path`.
 *
 * @throws WiretapeError `no-capture`
 */
export async function connectCapture(path: string, options: ConnectOptions): Promise<CaptureConnection> {
  if (!isOwnSocket(path)) {
    throw unreachable('its socket is missing or not yours', 'wiretape ls lists the live captures')
  }
  const socket = net.connect(path)
  const framer = new LineFramer({ maxBytes: 3 * longestLine })
  const waiting: ServerEvent[] = []
  const pending = new Map<number, { resolve(result: Success): void; reject(error: Refusal): void }>()
  let nextId = 1
  let wake: (() => void) | undefined
  let closed = false
  let begun: { resolve(hello: ServerHello): void; reject(error: unknown): void } | undefined
  const hello = new Promise<ServerHello>((resolve, reject) => (begun = { resolve, reject }))
  const patience = setTimeout(() => lose(unreachable('it does not respond')), helloWithinMs)

  function lose(error: WiretapeError): void {
    begun?.reject(error)
    end()
  }

  function end(): void {
    if (closed) return
    closed = true
    clearTimeout(patience)
    socket.destroy()
    const failure: Failure = { code: 'no-peer', message: 'the capture has ended' }
    for (const asked of pending.values()) asked.reject(new Refusal(failure))
    pending.clear()
    wake?.()
  }

  function take(text: string): void {
    const line = decodeServerLine(text)
    if (line === undefined) return
    if (isLineFault(line)) return lose(unreachable(`it breaks the control protocol: ${line.fault}`))
    switch (line.type) {
      case 'hello':
        return greet(line)
      case 'refused':
        return lose(unreachable(line.message))
      case 'reply':
        return takeReply(line)
      default:
        waiting.push(line)
        wake?.()
        steer()
    }
  }

  function greet(theirs: ServerHello): void {
    if (theirs.protocol !== protocolVersion) {
      const versions = `it runs wiretape ${theirs.wiretape} with version ${theirs.protocol} of the control protocol`
      return lose(unreachable(`${versions}, this is version ${protocolVersion}`))
    }
    clearTimeout(patience)
    const { role, name } = options
    socket.write(
      encodeLine({ type: 'hello', protocol: protocolVersion, role, ...(name !== undefined && { name }) }),
    )
    begun?.resolve(theirs)
    begun = undefined
  }

  function takeReply(reply: Reply): void {
    const asked = reply.id === null ? undefined : pending.get(reply.id)
    if (!asked) return
    pending.delete(reply.id!)
    steer()
    if (reply.ok) asked.resolve(reply.result)
    else asked.reject(new Refusal(reply.error))
  }

  /** A slow reader delays the capture's records, never a reply to a pending command. */
  function steer(): void {
    if (waiting.length > mostWaiting && pending.size === 0) socket.pause()
    else if (socket.isPaused()) socket.resume()
  }

  async function* events(): AsyncGenerator<ServerEvent, void, undefined> {
    for (;;) {
      const event = waiting.shift()
      if (event) {
        steer()
        yield event
      } else if (closed) return
      else {
        await new Promise<void>((resolve) => (wake = resolve))
        wake = undefined
      }
    }
  }

  socket.on('data', (chunk: Buffer) => {
    for (const frame of framer.push(chunk)) {
      if (frame.kind === 'piece') return lose(unreachable('it sent a line that is too long'))
      if (!closed && frame.bytes.length > 0) take(Buffer.from(frame.bytes).toString())
    }
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    lose(unreachable(error.code === 'ECONNREFUSED' ? 'it has ended' : (error.code ?? error.message)))
  })
  socket.on('close', () => lose(unreachable('it closed the connection')))

  return {
    hello: await hello,
    events: events(),
    send(command) {
      const id = nextId++
      return new Promise((resolve, reject) => {
        if (closed) return reject(new Refusal({ code: 'no-peer', message: 'the capture has ended' }))
        pending.set(id, { resolve, reject })
        steer()
        socket.write(encodeLine({ ...command, id }))
      })
    },
    close: end,
  }
}

function unreachable(why: string, hint?: string): WiretapeError {
  return new WiretapeError('no-capture', `cannot attach to the capture: ${why}`, {
    ...(hint !== undefined && { hint }),
  })
}
