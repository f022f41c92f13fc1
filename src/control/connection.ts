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
import { createLineFramer } from '../wire/index.js'
import { Refusal, type ControlHost } from './host.js'
import type { Share } from './share.js'
import { createTapeFollower, type TapeFollower } from './tape-follower.js'
import type { TapeView } from './tape-view.js'
import { whyNotLoaded } from './why-not-loaded.js'

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

/** One attached program. */
export interface Connection {
  /** Undefined before its hello. */
  readonly role: Role | undefined
  readonly subscribed: boolean
  send(line: ServerLine): void
  /** The tape has grown. */
  tapeGrew(): void
  /** Sends the rest of the tape and ends, after `withinMs` at the latest. */
  finish(withinMs: number): Promise<void>
  destroy(): void
}

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
  if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
    return new Refusal({ code: 'file', message: whyNotLoaded(error) })
  const why = error instanceof Error ? error.message : String(error)
  return new Refusal({ code: 'invalid', message: `internal error in wiretape: ${why}` })
}

export function createConnection(socket: Socket, options: ConnectionOptions): Connection {
  const { host, tape, share, lines } = options
  const framer = createLineFramer({ maxBytes: longestLine })
  let unfinishedBytes = 0
  let role: Role | undefined
  let follower: TapeFollower | undefined
  let subscribed = false
  let reading: Promise<void> | undefined
  let again = false
  let toldLive = false
  let finishing = false
  let wake: () => void = () => undefined
  let gone = false

  const connection: Connection = {
    get role() {
      return gone ? undefined : role
    },
    get subscribed() {
      return subscribed && !gone
    },
    send,
    tapeGrew: () => void pump(),
    finish,
    destroy,
  }

  function send(line: ServerLine): void {
    if (gone) return
    socket.write(encodeLine(line))
    if (socket.writableLength > mostWaitingBytes) destroy()
  }

  function destroy(): void {
    if (gone) return
    gone = true
    note(0)
    socket.destroy()
    options.onChange()
  }

  async function finish(withinMs: number): Promise<void> {
    if (gone) return
    finishing = true
    wake()
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const timer = setTimeout(destroy, withinMs)
    if (subscribed) await pump()
    send({ type: 'ended' })
    socket.end()
    await closed
    clearTimeout(timer)
  }

  function refuse(code: 'version' | 'protocol', message: string): void {
    send({ type: 'refused', code, message })
    socket.end()
    role = undefined
  }

  /** For a client that keeps sending: stops reading from it, and releases its buffered bytes. */
  function cutOff(message: string): void {
    refuse('protocol', message)
    gone = true
    note(0)
    framer.lose(0, true)
    socket.removeAllListeners('data')
    socket.resume()
    socket.destroySoon()
    options.onChange()
  }

  function reply(id: number | null, failed: Refusal): void {
    send({ type: 'reply', id, ok: false, error: failed.failure })
  }

  function takeLine(text: string): void {
    const line = decodeClientLine(text)
    if (role === undefined) {
      const isHello = isLineFault(line) ? line.isHello === true : line.type === 'hello'
      if (!isHello) return refuse('protocol', 'the first line must be a hello')
      const { protocol = protocolVersion } = line as { protocol?: number }
      if (protocol !== protocolVersion) {
        const versions = `this capture uses version ${protocolVersion} of the control protocol, not ${protocol}`
        return refuse('version', `${versions}: attach with the wiretape that started it`)
      }
      if (isLineFault(line) || line.type !== 'hello') {
        return refuse('protocol', `invalid hello: ${isLineFault(line) ? line.fault : ''}`)
      }
      role = line.role
      return options.onChange()
    }
    if (isLineFault(line)) {
      return reply(line.id, new Refusal({ code: 'invalid', message: line.fault }))
    }
    if (line.type === 'hello') {
      return reply(null, new Refusal({ code: 'invalid', message: 'hello was already sent' }))
    }
    if (line.type === 'subscribe') return subscribe(line)
    // `reload` is allowed: it decides about no message.
    if (role !== 'screen' && line.type !== 'reload') {
      const message = `an onlooker cannot ${line.type}`
      const hint = 'attach with the role "screen"'
      return reply(line.id, new Refusal({ code: 'not-a-screen', message, hint }))
    }
    void execute(line)
  }

  async function execute(command: Exclude<Command, { type: 'subscribe' }>): Promise<void> {
    let outcome: Reply
    try {
      outcome = { type: 'reply', id: command.id, ok: true, result: await host.execute(command) }
    } catch (error) {
      return reply(command.id, error instanceof Refusal ? error : broken(error))
    }
    send(outcome)
  }

  function subscribe({ id, from = 0 }: CommandOf<'subscribe'>): void {
    if (typeof from === 'number' && from > 0 && !host.hasNumbers) {
      const message = 'messages on a --strict-v1 tape have no numbers'
      return reply(id, new Refusal({ code: 'invalid', message, hint: 'subscribe without `from`' }))
    }
    follower = createTapeFollower(tape, from)
    subscribed = true
    toldLive = false
    send({ type: 'reply', id, ok: true, result: {} })
    send({ type: 'state', state: host.state() })
    if (role === 'screen') for (const held of host.held()) send(held)
    void pump()
  }

  /** Sends the tape as fast as the client reads it. One run at a time. */
  function pump(): Promise<void> {
    again = true
    if (!reading) {
      reading = readOn().finally(() => (reading = undefined))
    }
    return reading
  }

  async function readOn(): Promise<void> {
    while (again && !gone && follower) {
      again = false
      const own = follower
      for (;;) {
        if (socket.writableLength > mostRecordBytes) await drained()
        if (gone || own !== follower) break
        const followed = await own.next().catch(() => undefined)
        // A new subscription has replaced this one, or the connection is closed.
        if (gone || own !== follower || !followed) {
          if (followed?.kind === 'lines') followed.release()
          break
        }
        if (followed.kind === 'gap') {
          const { lines, sizeBytes } = followed
          send({ type: 'gap', lines, sizeBytes, why: 'too slow' })
          continue
        }
        if (followed.kind === 'deleted') {
          send({ type: 'gap', why: 'deleted' })
          continue
        }
        const { lines } = followed
        const release = (): void => followed.release()
        if (lines.length === 0) release()
        else {
          const beganMs = performance.now()
          socket.cork()
          for (const line of lines) {
            socket.write(head)
            socket.write(line)
            if (line === lines.at(-1)) socket.write(tail, release)
            else socket.write(tail)
          }
          socket.uncork()
          share.spent(performance.now() - beganMs)
          await rest()
        }
        if (followed.end) break
      }
      if (!gone && own === follower && !toldLive && !finishing) {
        toldLive = true
        send({ type: 'live' })
      }
    }
  }

  /** Traffic has priority: attached programs share a small part of this thread, however much remains to be sent. */
  async function rest(): Promise<void> {
    for (let { waitMs } = share; waitMs >= 1 && !finishing && !gone; { waitMs } = share) {
      const forMs = waitMs
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, forMs)
      })
    }
  }

  function drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        socket.off('drain', done)
        socket.off('close', done)
        resolve()
      }
      socket.on('drain', done)
      socket.on('close', done)
    })
  }

  function note(sizeBytes: number): void {
    lines.unfinishedBytes += sizeBytes - unfinishedBytes
    unfinishedBytes = sizeBytes
  }

  socket.on('data', (chunk: Buffer) => {
    if (gone) return
    for (const frame of framer.push(chunk)) {
      if (gone) return
      if (frame.kind === 'piece') return refuse('protocol', 'a line is too long')
      if (frame.bytes.length > 0) takeLine(Buffer.from(frame.bytes).toString())
    }
    if (gone) return
    note(framer.pendingBytes)
    if (role === undefined && unfinishedBytes > longestHello) return cutOff('the first line is too long')
    if (lines.unfinishedBytes > mostUnfinishedBytes) cutOff('too many bytes in unfinished lines')
  })
  socket.on('end', destroy)
  socket.on('error', destroy)
  socket.on('close', destroy)
  send({ type: 'hello', protocol: protocolVersion, ...host.hello() })
  return connection
}
