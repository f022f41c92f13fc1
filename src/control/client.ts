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
  const client = new Client(net.connect(path), options)
  const hello = await client.greeted
  return {
    hello,
    events: client.events(),
    send: (command) => client.send(command),
    close: () => client.close(),
  }
}

/** The client's end of the control protocol. */
class Client {
  readonly #socket: net.Socket
  readonly #options: ConnectOptions
  readonly #framer = new LineFramer({ maxBytes: 3 * longestLine })
  readonly #waiting: ServerEvent[] = []
  readonly #pending = new Map<number, { resolve(result: Success): void; reject(error: Refusal): void }>()
  #nextId = 1
  #wake: (() => void) | undefined
  #closed = false
  #begun: { resolve(hello: ServerHello): void; reject(error: unknown): void } | undefined
  readonly greeted = new Promise<ServerHello>((resolve, reject) => (this.#begun = { resolve, reject }))
  readonly #patience = setTimeout(() => this.#lose(unreachable('it does not respond')), helloWithinMs)

  constructor(socket: net.Socket, options: ConnectOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('data', (chunk: Buffer) => {
      for (const frame of this.#framer.push(chunk)) {
        if (frame.kind === 'piece') return this.#lose(unreachable('it sent a line that is too long'))
        if (!this.#closed && frame.bytes.length > 0) this.#take(Buffer.from(frame.bytes).toString())
      }
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#lose(unreachable(error.code === 'ECONNREFUSED' ? 'it has ended' : (error.code ?? error.message)))
    })
    socket.on('close', () => this.#lose(unreachable('it closed the connection')))
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#patience)
    this.#socket.destroy()
    const failure: Failure = { code: 'no-peer', message: 'the capture has ended' }
    for (const asked of this.#pending.values()) asked.reject(new Refusal(failure))
    this.#pending.clear()
    this.#wake?.()
  }

  async *events(): AsyncGenerator<ServerEvent, void, undefined> {
    for (;;) {
      const event = this.#waiting.shift()
      if (event) {
        this.#steer()
        yield event
      } else if (this.#closed) return
      else {
        await new Promise<void>((resolve) => (this.#wake = resolve))
        this.#wake = undefined
      }
    }
  }

  send(command: CommandBody): Promise<Success> {
    const id = this.#nextId++
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Refusal({ code: 'no-peer', message: 'the capture has ended' }))
      this.#pending.set(id, { resolve, reject })
      this.#steer()
      this.#socket.write(encodeLine({ ...command, id }))
    })
  }

  #lose(error: WiretapeError): void {
    this.#begun?.reject(error)
    this.close()
  }

  #take(text: string): void {
    const line = decodeServerLine(text)
    if (line === undefined) return
    if (isLineFault(line)) return this.#lose(unreachable(`it breaks the control protocol: ${line.fault}`))
    switch (line.type) {
      case 'hello':
        return this.#greet(line)
      case 'refused':
        return this.#lose(unreachable(line.message))
      case 'reply':
        return this.#takeReply(line)
      default:
        this.#waiting.push(line)
        this.#wake?.()
        this.#steer()
    }
  }

  #greet(theirs: ServerHello): void {
    if (theirs.protocol !== protocolVersion) {
      const versions = `it runs wiretape ${theirs.wiretape} with version ${theirs.protocol} of the control protocol`
      return this.#lose(unreachable(`${versions}, this is version ${protocolVersion}`))
    }
    clearTimeout(this.#patience)
    const { role, name } = this.#options
    this.#socket.write(
      encodeLine({ type: 'hello', protocol: protocolVersion, role, ...(name !== undefined && { name }) }),
    )
    this.#begun?.resolve(theirs)
    this.#begun = undefined
  }

  #takeReply(reply: Reply): void {
    const asked = reply.id === null ? undefined : this.#pending.get(reply.id)
    if (!asked) return
    this.#pending.delete(reply.id!)
    this.#steer()
    if (reply.ok) asked.resolve(reply.result)
    else asked.reject(new Refusal(reply.error))
  }

  /** A slow reader delays the capture's records, never a reply to a pending command. */
  #steer(): void {
    if (this.#waiting.length > mostWaiting && this.#pending.size === 0) this.#socket.pause()
    else if (this.#socket.isPaused()) this.#socket.resume()
  }
}

function unreachable(why: string, hint?: string): WiretapeError {
  return new WiretapeError('no-capture', `cannot attach to the capture: ${why}`, {
    ...(hint !== undefined && { hint }),
  })
}
