import type { Writable } from 'node:stream'
import { isAnswer } from '../../model/index.js'
import { LineFramer, idKey, type LineFrame, messagesIn, type Message, withIds } from '../../wire/index.js'
import { graceMs, within } from '../stdio/own-server.js'
import type { ServerExit, ServerProcess } from '../stdio/server-process.js'

export interface GenerationHandlers {
  /** A line that is not a response to one of our own requests. */
  onLine(line: Buffer, messages: readonly Message[], from: Generation): void
  /** The process ended inside a line of this many bytes. True when those bytes still count as a line. */
  onCut(sizeBytes: number): boolean
  onExit(exit: ServerExit, from: Generation): void
}

const LF = Buffer.from('\n')
const CRLF = Buffer.from('\r\n')

/** One process of a server. A reload replaces it with the next one. */
export class Generation {
  readonly server: ServerProcess
  exit: ServerExit | undefined
  /** Resolves when all output was handled. Output that a surviving child process keeps open is not waited for. */
  readonly drained: Promise<void>
  readonly #handlers: GenerationHandlers
  readonly #framer = new LineFramer()
  /** Handlers of the responses to our own requests, by the keys of our ids. */
  readonly #own = new Map<string, (answer: Message) => void>()
  #count = 0

  constructor(server: ServerProcess, handlers: GenerationHandlers) {
    this.server = server
    this.#handlers = handlers
    const { stdin, stdout, stderr } = server
    stdout.on('data', (chunk: Buffer) => this.#take(this.#framer.push(chunk)))
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined)
    const read = new Promise((resolve) => stdout.once('close', resolve))
    this.drained = this.#drain(read)
    void server.exited.then((exit) => {
      this.exit = exit
      handlers.onExit(exit, this)
    })
  }

  async #drain(read: Promise<unknown>): Promise<void> {
    const { exited, stdin, stdout, stderr } = this.server
    await exited
    await within(read, graceMs / 4)
    for (const pipe of [stdin, stdout, stderr]) pipe.destroy()
    const cut = this.#framer.pendingBytes
    if (cut > 0 && this.#handlers.onCut(cut)) this.#take(this.#framer.end())
  }

  #take(frames: readonly LineFrame[]): void {
    for (const frame of frames) {
      const messages = messagesOf(frame)
      const [only] = messages
      const id = only && isAnswer(only.envelope) ? only.envelope.id : undefined
      const take = id === undefined ? undefined : this.#own.get(idKey(id))
      if (take) take(only!)
      else this.#handlers.onLine(wholeLine(frame), messages, this)
    }
  }

  /** Sends a message. Resolves when it was accepted, or never will be. */
  tell(text: string): Promise<void> {
    return write(this.server.stdin, Buffer.from(`${text}\n`))
  }

  /** Sends a client's request under our own id. Undefined when no response arrives, or none in time. */
  async ask(text: string, timeoutMs?: number): Promise<Message | undefined> {
    const id = `"wiretape-reload-${(this.#count += 1)}"`
    let timer: NodeJS.Timeout | undefined
    const answer = new Promise<Message | undefined>((resolve) => {
      this.#own.set(idKey(id), resolve)
      if (timeoutMs !== undefined) timer = setTimeout(() => resolve(undefined), timeoutMs)
      void this.server.exited.then(() => resolve(undefined))
    })
    await this.tell(withIds(text, { id }))
    const came = await answer
    clearTimeout(timer)
    return came
  }
}

/** The messages of a line; none when it is not JSON-RPC, or too long to be read. */
export function messagesOf(frame: LineFrame): readonly Message[] {
  return (frame.kind === 'line' && messagesIn(Buffer.from(frame.bytes).toString('utf8'))) || []
}

export function wholeLine(frame: LineFrame): Buffer {
  if (frame.kind === 'piece') return Buffer.concat(frame.last ? [frame.bytes, LF] : [frame.bytes])
  const ends = { lf: [LF], crlf: [CRLF], none: [] }
  return Buffer.concat([frame.bytes, ...ends[frame.end]])
}

/** Resolves when the bytes were accepted, or never will be. */
export function write(stream: Writable, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || stream.writableEnded) resolve()
    else stream.write(bytes, () => resolve())
  })
}
