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

/** Of what is not on the disk (events, replies), so much may wait for one who does not read. Then it is cut off. */
const mostWaitingBytes = 192 * 1024 * 1024
/** Records are read for it only while less than this waits. */
const mostRecordBytes = 1024 * 1024

/** Nobody says more before it has said who it is. */
const longestHello = 65_536
/** Of lines that have not ended, all who are attached together may send so much. */
const mostUnfinishedBytes = longestLine + 32 * 1024 * 1024

const head = Buffer.from(recordFrame.head)
const tail = Buffer.from(recordFrame.tail)

/** One who is attached. */
export interface Connection {
  /** Undefined before it said hello. */
  readonly role: Role | undefined
  readonly subscribed: boolean
  send(line: ServerLine): void
  /** There is more on the tape. */
  tapeGrew(): void
  /** Sends what is left of the tape and ends; does not wait for it for long. */
  finish(withinMs: number): Promise<void>
  destroy(): void
}

export interface ConnectionOptions {
  readonly host: ControlHost
  readonly tape: TapeView
  readonly share: Share
  /** What has come of lines that have not ended, of all who are attached. */
  readonly lines: { unfinishedBytes: number }
  /** It said hello, or is gone. */
  onChange(): void
}

/** A fault of ours costs the command, not the capture. */
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

  /** It goes on sending: nothing more of it is read, and what there is of it is let go. */
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
    // It decides about no message.
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

  /** Passes on what is on the tape, as fast as it is taken. Only one at a time. */
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
        // Subscribed anew meanwhile, or closed.
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

  /** What passes goes first: all who are attached get a small share of this thread, however much there is to tell. */
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
