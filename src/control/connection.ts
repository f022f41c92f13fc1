import type { Socket } from 'node:net'
import {
  decodeClientLine,
  encodeLine,
  isLineFault,
  longestLine,
  protocolVersion,
  recordFrame,
  type Command,
  type CommandOf,
  type Reply,
  type Role,
  type ServerLine,
} from '../control-schema/index.js'
import { LineFramer } from '../wire/index.js'
import { Refusal, type ControlHost } from './host.js'
import type { Share } from './share.js'
import { createTapeFollower, type TapeFollower } from './tape-follower.js'
import type { TapeView } from './tape-view.js'
import { isNotFound, whyNotLoaded } from './why-not-loaded.js'

/** Limit for unsent events and replies (data not on disk) per connection. A client above it is disconnected. */
const mostWaitingBytes = 192 * 1024 * 1024
/** Records are read for a connection only while fewer bytes than this are unsent. */
const mostRecordBytes = 1024 * 1024

/** Longest hello: nothing longer is expected before it. */
const longestHello = 65_536
/** Limit for unfinished lines of all connections together. */
const mostUnfinishedBytes = longestLine + 32 * 1024 * 1024

const head = Buffer.from(recordFrame.head)
const tail = Buffer.from(recordFrame.tail)

export interface ConnectionOptions {
  readonly host: ControlHost
  readonly tape: TapeView
  readonly share: Share
  /** Bytes received of unfinished lines, of all connections together. */
  readonly lines: { unfinishedBytes: number }
  /** Called after the hello, and when the connection is gone. */
  onChange(): void
}

/** A bug in wiretape fails the command, not the capture. */
function broken(error: unknown): Refusal {
  if (isNotFound(error)) return new Refusal({ code: 'file', message: whyNotLoaded(error) })
  const why = error instanceof Error ? error.message : String(error)
  return new Refusal({ code: 'invalid', message: `internal error in wiretape: ${why}` })
}

/** One attached program. */
export class Connection {
  readonly #socket: Socket
  readonly #options: ConnectionOptions
  readonly #host: ControlHost
  readonly #tape: TapeView
  readonly #share: Share
  readonly #lines: { unfinishedBytes: number }
  readonly #framer = new LineFramer({ maxBytes: longestLine })
  #unfinishedBytes = 0
  #role: Role | undefined
  #follower: TapeFollower | undefined
  #subscribed = false
  #reading: Promise<void> | undefined
  #again = false
  #toldLive = false
  #finishing = false
  #wake: () => void = () => undefined
  #gone = false

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    const { host, tape, share, lines } = options
    this.#host = host
    this.#tape = tape
    this.#share = share
    this.#lines = lines
    socket.on('data', (chunk: Buffer) => {
      if (this.#gone) return
      for (const frame of this.#framer.push(chunk)) {
        if (this.#gone) return
        if (frame.kind === 'piece') return this.#refuse('protocol', 'a line is too long')
        if (frame.bytes.length > 0) this.#takeLine(Buffer.from(frame.bytes).toString())
      }
      if (this.#gone) return
      this.#note(this.#framer.pendingBytes)
      if (this.#role === undefined && this.#unfinishedBytes > longestHello)
        return this.#cutOff('the first line is too long')
      if (lines.unfinishedBytes > mostUnfinishedBytes) this.#cutOff('too many bytes in unfinished lines')
    })
    socket.on('end', () => this.destroy())
    socket.on('error', () => this.destroy())
    socket.on('close', () => this.destroy())
    this.send({ type: 'hello', protocol: protocolVersion, ...host.hello() })
  }

  /** Undefined before its hello. */
  get role(): Role | undefined {
    return this.#gone ? undefined : this.#role
  }

  get subscribed(): boolean {
    return this.#subscribed && !this.#gone
  }

  /** The tape has grown. */
  tapeGrew(): void {
    void this.#pump()
  }

  send(line: ServerLine): void {
    if (this.#gone) return
    this.#socket.write(encodeLine(line))
    if (this.#socket.writableLength > mostWaitingBytes) this.destroy()
  }

  destroy(): void {
    if (this.#gone) return
    this.#gone = true
    this.#note(0)
    this.#socket.destroy()
    this.#options.onChange()
  }

  /** Sends the rest of the tape and ends, after `withinMs` at the latest. */
  async finish(withinMs: number): Promise<void> {
    if (this.#gone) return
    this.#finishing = true
    this.#wake()
    const closed = new Promise((resolve) => this.#socket.once('close', resolve))
    const timer = setTimeout(() => this.destroy(), withinMs)
    if (this.#subscribed) await this.#pump()
    this.send({ type: 'ended' })
    this.#socket.end()
    await closed
    clearTimeout(timer)
  }

  #refuse(code: 'version' | 'protocol', message: string): void {
    this.send({ type: 'refused', code, message })
    this.#socket.end()
    this.#role = undefined
  }

  /** For a client that keeps sending: stops reading from it, and releases its buffered bytes. */
  #cutOff(message: string): void {
    this.#refuse('protocol', message)
    this.#gone = true
    this.#note(0)
    this.#framer.lose(0, true)
    this.#socket.removeAllListeners('data')
    this.#socket.resume()
    this.#socket.destroySoon()
    this.#options.onChange()
  }

  #reply(id: number | null, failed: Refusal): void {
    this.send({ type: 'reply', id, ok: false, error: failed.failure })
  }

  #takeLine(text: string): void {
    const line = decodeClientLine(text)
    if (this.#role === undefined) {
      const isHello = isLineFault(line) ? line.isHello === true : line.type === 'hello'
      if (!isHello) return this.#refuse('protocol', 'the first line must be a hello')
      const { protocol = protocolVersion } = line as { protocol?: number }
      if (protocol !== protocolVersion) {
        const versions = `this capture uses version ${protocolVersion} of the control protocol, not ${protocol}`
        return this.#refuse('version', `${versions}: attach with the wiretape that started it`)
      }
      if (isLineFault(line) || line.type !== 'hello') {
        return this.#refuse('protocol', `invalid hello: ${isLineFault(line) ? line.fault : ''}`)
      }
      this.#role = line.role
      return this.#options.onChange()
    }
    if (isLineFault(line)) {
      return this.#reply(line.id, new Refusal({ code: 'invalid', message: line.fault }))
    }
    if (line.type === 'hello') {
      return this.#reply(null, new Refusal({ code: 'invalid', message: 'hello was already sent' }))
    }
    if (line.type === 'subscribe') return this.#subscribe(line)
    // `reload` is allowed: it decides about no message.
    if (this.#role !== 'screen' && line.type !== 'reload') {
      const message = `an onlooker cannot ${line.type}`
      const hint = 'attach with the role "screen"'
      return this.#reply(line.id, new Refusal({ code: 'not-a-screen', message, hint }))
    }
    void this.#execute(line)
  }

  async #execute(command: Exclude<Command, { type: 'subscribe' }>): Promise<void> {
    let outcome: Reply
    try {
      outcome = { type: 'reply', id: command.id, ok: true, result: await this.#host.execute(command) }
    } catch (error) {
      return this.#reply(command.id, error instanceof Refusal ? error : broken(error))
    }
    this.send(outcome)
  }

  #subscribe({ id, from = 0 }: CommandOf<'subscribe'>): void {
    if (typeof from === 'number' && from > 0 && !this.#host.hasNumbers) {
      const message = 'messages on a --strict-v1 tape have no numbers'
      return this.#reply(id, new Refusal({ code: 'invalid', message, hint: 'subscribe without `from`' }))
    }
    this.#follower = createTapeFollower(this.#tape, from)
    this.#subscribed = true
    this.#toldLive = false
    this.send({ type: 'reply', id, ok: true, result: {} })
    this.send({ type: 'state', state: this.#host.state() })
    if (this.#role === 'screen') for (const held of this.#host.held()) this.send(held)
    void this.#pump()
  }

  /** Sends the tape as fast as the client reads it. One run at a time. */
  #pump(): Promise<void> {
    this.#again = true
    if (!this.#reading) {
      this.#reading = this.#readOn().finally(() => (this.#reading = undefined))
    }
    return this.#reading
  }

  async #readOn(): Promise<void> {
    while (this.#again && !this.#gone && this.#follower) {
      this.#again = false
      const own = this.#follower
      for (;;) {
        if (this.#socket.writableLength > mostRecordBytes) await this.#drained()
        if (this.#gone || own !== this.#follower) break
        const followed = await own.next().catch(() => undefined)
        // A new subscription has replaced this one, or the connection is closed.
        if (this.#gone || own !== this.#follower || !followed) {
          if (followed?.kind === 'lines') followed.release()
          break
        }
        if (followed.kind === 'gap') {
          const { lines, sizeBytes } = followed
          this.send({ type: 'gap', lines, sizeBytes, why: 'too slow' })
          continue
        }
        if (followed.kind === 'deleted') {
          this.send({ type: 'gap', why: 'deleted' })
          continue
        }
        const { lines } = followed
        const release = (): void => followed.release()
        if (lines.length === 0) release()
        else {
          const beganMs = performance.now()
          this.#socket.cork()
          for (const line of lines) {
            this.#socket.write(head)
            this.#socket.write(line)
            if (line === lines.at(-1)) this.#socket.write(tail, release)
            else this.#socket.write(tail)
          }
          this.#socket.uncork()
          this.#share.spent(performance.now() - beganMs)
          await this.#rest()
        }
        if (followed.end) break
      }
      if (!this.#gone && own === this.#follower && !this.#toldLive && !this.#finishing) {
        this.#toldLive = true
        this.send({ type: 'live' })
      }
    }
  }

  /** Traffic has priority: attached programs share a small part of this thread, however much remains to be sent. */
  async #rest(): Promise<void> {
    for (
      let { waitMs } = this.#share;
      waitMs >= 1 && !this.#finishing && !this.#gone;
      { waitMs } = this.#share
    ) {
      const forMs = waitMs
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        setTimeout(resolve, forMs)
      })
    }
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#socket.off('drain', done)
        this.#socket.off('close', done)
        resolve()
      }
      this.#socket.on('drain', done)
      this.#socket.on('close', done)
    })
  }

  #note(sizeBytes: number): void {
    this.#lines.unfinishedBytes += sizeBytes - this.#unfinishedBytes
    this.#unfinishedBytes = sizeBytes
  }
}
