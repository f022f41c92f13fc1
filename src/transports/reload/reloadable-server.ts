import { PassThrough, Writable } from 'node:stream'
import { isAnswer } from '../../model/index.js'
import {
  LineFramer,
  idKey,
  JsonObject,
  type LineFrame,
  failureText,
  messagesIn,
  type Message,
} from '../../wire/index.js'
import { endServer } from '../stdio/own-server.js'
import {
  startServer,
  type NotStarted,
  type ServerExit,
  type ServerProcess,
  type StartServerOptions,
} from '../stdio/server-process.js'
import { Generation, messagesOf, wholeLine, write } from './generation.js'
import type { Restart } from './restart.js'
import { digestOf, listNotices, misfits, TalkMemory } from './talk-memory.js'

export interface ReloadOptions extends StartServerOptions {
  /** How long a client waits for a server that does not start, in milliseconds. */
  readonly timeoutMs: number
  /** Rejects a new process that lacks capabilities which the client was promised. */
  readonly strict: boolean
  /** The server may exit and be started again. Pending requests then get an error. */
  readonly survives: boolean
  /** Sends the client a message of our own. @default through its stdout */
  readonly say?: (text: string) => Promise<void>
  /** A notice of one line. */
  onRestart(what: Restart): void
  onNotice(line: string): void
}

/** A server whose process can be replaced while its client is connected. */
export interface ReloadableServer extends ServerProcess {
  /**
   * Ends the process and starts another. Open requests get an error; the new process gets the state of the old one
   * (handshake, log level, subscriptions). Resolves when messages pass again. A reload during another one waits for
   * it and follows it.
   *
   * @throws Error with a readable message when the new process does not start
   */
  reload(): Promise<Restart>
}

interface ClientLine {
  readonly frame: LineFrame
  readonly messages: readonly Message[]
}

const mostStale = 1_000
/** Limit for waiting lines, in bytes. Above it, the client has to wait too. */
const mostWaitingBytes = 1 << 20
const downWords = 'the server is still starting'

/** Like `startServer`. */
export async function startReloadable(
  command: readonly string[],
  options: ReloadOptions,
): Promise<ReloadableServer | NotStarted> {
  const first = await startServer(command, options)
  return 'error' in first ? first : new Reloadable(command, options, first)
}

class Reloadable implements ReloadableServer {
  readonly stdin: Writable
  readonly stdout = new PassThrough()
  readonly stderr = new PassThrough()
  readonly exited: Promise<ServerExit>
  readonly #command: readonly string[]
  readonly #options: ReloadOptions
  readonly #memory = new TalkMemory()
  readonly #fromClient = new LineFramer()
  #exit: (exit: ServerExit) => void = () => undefined
  #now: Generation
  /** `up`: messages pass. `restarting`: the process is being replaced. `down`: no replacement started in time. */
  #state: 'up' | 'restarting' | 'down' = 'up'
  #moved: (() => void)[] = []
  /** Lines from the client that wait for the next process. */
  readonly #waiting: ClientLine[] = []
  #waitingBytes = 0
  #passing: Promise<void> = Promise.resolve()
  #ending = false
  #clientLeft = false
  #reloading: Promise<Restart> | undefined
  #next: Promise<Restart> | undefined
  /** A process that has not answered the handshake yet. */
  #starting: Generation | undefined
  #patience: NodeJS.Timeout | undefined
  /** Whether the previous process is gone, so that open server requests come from the new one. */
  #isNew = false
  /** Server requests of processes that are gone, which the client may still answer. */
  readonly #stale = new Set<string>()

  constructor(command: readonly string[], options: ReloadOptions, first: ServerProcess) {
    this.#command = command
    this.#options = options
    this.exited = new Promise((resolve) => (this.#exit = resolve))
    this.#now = this.#take(first)
    this.stdin = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#pass(this.#fromClient.push(chunk)).then(() => done(), done)
      },
      final: (done) => {
        this.#pass(this.#fromClient.end())
          .then(() => this.#leave())
          .then(() => done(), done)
      },
    })
  }

  get pid(): number {
    return this.#now.server.pid
  }

  kill(signal: NodeJS.Signals): boolean {
    this.#ending = true
    if (this.#now.exit) this.#end(this.#now.exit)
    this.#move()
    return this.#now.server.kill(signal)
  }

  reload(): Promise<Restart> {
    // The response of a process that is about to be replaced is not awaited.
    if (this.#starting) void endServer(this.#starting.server)
    if (!this.#reloading)
      return (this.#reloading = this.#replace().finally(() => {
        this.#reloading = undefined
        this.#move()
      }))
    const again = (): Promise<Restart> => {
      this.#next = undefined
      return this.reload()
    }
    return (this.#next ??= this.#reloading.then(again, again))
  }

  #take(server: ServerProcess): Generation {
    server.stderr.pipe(this.stderr, { end: false })
    return new Generation(server, {
      onLine: (line, messages, from) => this.#hear(line, messages, from),
      onCut: (sizeBytes) => {
        if (!this.#isOver)
          this.#options.onNotice(
            `${sizeBytes} bytes of an unfinished line of the old process were not forwarded`,
          )
        return this.#isOver
      },
      onExit: (exit, from) => {
        if (from === this.#now && (this.#state === 'up' || this.#ending)) void this.#left(from, exit)
      },
    })
  }

  /** No other process will follow. */
  get #isOver(): boolean {
    return this.#ending || this.#clientLeft || (this.#state === 'up' && !this.#options.survives)
  }

  #hear(line: Buffer, messages: readonly Message[], { server: { stdout } }: Generation): void {
    // Messages of a process that is only being tried are not forwarded.
    if (stdout !== this.#now.server.stdout) return
    for (const message of messages) this.#memory.heard(message)
    if (this.stdout.write(line) || stdout.isPaused()) return
    stdout.pause()
    this.stdout.once('drain', () => stdout.resume())
  }

  /** Lines from the client. Waiting lines do not delay a response that the new process needs. */
  async #pass(frames: readonly LineFrame[]): Promise<void> {
    for (const frame of frames) {
      const line = { frame, messages: messagesOf(frame) }
      if (!this.#isPassing && !this.#isWaitedFor(line.messages)) {
        this.#waiting.push(line)
        this.#waitingBytes += frame.bytes.length
        while (!this.#isPassing && this.#waitingBytes > mostWaitingBytes) await this.#nextMove()
        continue
      }
      if (this.#isPassing) await this.#passWaiting()
      await this.#deliver(line)
    }
  }

  get #isPassing(): boolean {
    return this.#state !== 'restarting' || this.#ending
  }

  #nextMove(): Promise<void> {
    return new Promise((go) => this.#moved.push(go))
  }

  /** Forwards the waiting lines in order. */
  #passWaiting(): Promise<void> {
    return (this.#passing = this.#passing.then(async () => {
      while (this.#isPassing && this.#waiting.length > 0) {
        const line = this.#waiting.shift()!
        this.#waitingBytes -= line.frame.bytes.length
        await this.#deliver(line)
      }
    }))
  }

  async #deliver({ frame, messages }: ClientLine): Promise<void> {
    if (this.#state === 'down') return this.#refuse(messages, downWords)
    const [only] = messages
    if (only && isAnswer(only.envelope) && !this.#isAsked(only))
      return this.#options.onNotice('a response of the client to the old process was not forwarded')
    for (const message of messages) this.#memory.said(message)
    await write(this.#now.server.stdin, wholeLine(frame))
  }

  /** Whether the new process has sent this request and may depend on its response. */
  #isWaitedFor([only]: readonly Message[]): boolean {
    const id = only && isAnswer(only.envelope) ? only.envelope.id : undefined
    return this.#isNew && id !== undefined && this.#memory.asked.has(idKey(id))
  }

  #isAsked({ envelope: { id } }: Message): boolean {
    if (id === undefined) return true
    const key = idKey(id)
    return this.#memory.asked.has(key) || !this.#stale.delete(key)
  }

  async #leave(): Promise<void> {
    this.#clientLeft = true
    // If no replacement is coming, there is no process to wait for.
    while ((this.#reloading ?? this.#waiting.length > 0) && !this.#isPassing) await this.#nextMove()
    await this.#passWaiting()
    if (this.#now.exit) this.#end(this.#now.exit)
    else this.#now.server.stdin.end()
  }

  /** The process exited by itself. */
  async #left(gone: Generation, exit: ServerExit): Promise<void> {
    if (this.#isOver) {
      await gone.drained
      return this.#end(exit)
    }
    this.#setState('restarting')
    await gone.drained
    const words = exit.signal ?? `exit ${exit.exitCode}`
    this.#options.onNotice(`the server ended (${words}); the next change of a watched file restarts it`)
    await this.#abandon(`the server ended (${words})`)
  }

  /** An unanswered `initialize` is kept for the next process. If no process follows, it has to be answered here. */
  #unheard(): Message[] {
    const { initialize, agreed } = this.#memory
    return initialize !== undefined && agreed === undefined ? (messagesIn(initialize) ?? []) : []
  }

  #end(exit: ServerExit): void {
    this.#ending = true
    clearTimeout(this.#patience)
    this.#move()
    this.stdout.end()
    this.stderr.end()
    this.#exit(exit)
  }

  #setState(state: 'up' | 'restarting' | 'down'): void {
    this.#state = state
    this.#isNew = false
    clearTimeout(this.#patience)
    // The client waits for the next process, but not for ever. A slow process is not ended after that time.
    if (state === 'restarting')
      this.#patience = setTimeout(() => {
        this.#setState('down')
        void this.#refuse(this.#unheard(), downWords)
      }, this.#options.timeoutMs)
    this.#move()
  }

  #move(): void {
    for (const go of this.#moved.splice(0)) go()
    if (this.#isPassing) void this.#passWaiting()
  }

  #say(text: string): Promise<void> {
    const { say } = this.#options
    return say ? say(text) : write(this.stdout, Buffer.from(`${text}\n`))
  }

  async #refuse(messages: readonly Message[], why: string): Promise<void> {
    for (const { envelope } of messages) {
      if (envelope.kind !== 'request' || envelope.id === undefined) continue
      this.#memory.open.delete(idKey(envelope.id))
      await this.#say(failureText(envelope.id, 503, why))
    }
  }

  /** Cancels open requests in both directions. @returns the number of client requests that got an error */
  async #abandon(why: string): Promise<number> {
    const { open, asked, agreed } = this.#memory
    const waiting = [...open.values()].filter(({ method }) => method !== 'initialize' || agreed !== undefined)
    for (const { id } of waiting) {
      open.delete(idKey(id))
      await this.#say(failureText(id, 503, why))
    }
    for (const [key, id] of asked) {
      asked.delete(key)
      if (this.#stale.size < mostStale) this.#stale.add(key)
      const params = `{"requestId":${id},"reason":${JSON.stringify(`wiretape: ${why}`)}}`
      await this.#say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)
    }
    return waiting.length
  }

  async #replace(): Promise<Restart> {
    if (this.#ending || this.#clientLeft) throw new Error('the session is ending')
    const old = this.#now
    const tried = this.#options.strict && !old.exit ? await this.#try() : undefined
    const beganMs = performance.now()
    this.#setState('restarting')
    await endServer(old.server)
    await old.drained
    const before = await old.server.exited
    const unanswered = await this.#abandon('the server restarted before it responded')
    const { made, agreed } = tried ?? (await this.#start((one) => (this.#now = one)))
    this.#now = made
    this.#isNew = true
    const changed = await this.#catchUp(made, agreed)
    if (made.exit) return this.#failed(made.exit)
    this.#setState('up')
    const tookMs = Math.round(performance.now() - beganMs)
    const told = this.#memory.agreed
    const fits = agreed === undefined || told === undefined ? [] : misfits(told, agreed)
    const restart = { before, tookMs, unanswered, changed, misfits: fits }
    this.#options.onRestart(restart)
    for (const notice of new Set(changed.map((method) => listNotices[method]!)))
      await this.#say(`{"jsonrpc":"2.0","method":"${notice}"}`)
    return restart
  }

  /** Starts the new process beside the serving one, which stays if the new one is incompatible. */
  async #try(): Promise<{ made: Generation; agreed: string | undefined }> {
    const tried = await this.#start(() => undefined)
    const told = this.#memory.agreed
    const faults = told === undefined || tried.agreed === undefined ? [] : misfits(told, tried.agreed)
    if (faults.length === 0) return tried
    await endServer(tried.made.server)
    throw new Error(`the old process stays, because the new one is incompatible: ${faults.join('; ')}`)
  }

  /** Starts a process and repeats the client's handshake with it. */
  async #start(
    onMade: (made: Generation) => void,
  ): Promise<{ made: Generation; agreed: string | undefined }> {
    // An end that came while the old process ended would leave the new one behind.
    if (this.#ending) return this.#failed(await this.#now.server.exited)
    const server = await startServer(this.#command, this.#options)
    if ('error' in server) throw new Error(server.error)
    if (this.#ending) {
      await endServer(server)
      return this.#failed(await server.exited)
    }
    const made = this.#take(server)
    onMade(made)
    const { initialize, agreed: told } = this.#memory
    if (initialize === undefined || told === undefined) return { made, agreed: undefined }
    this.#starting = made
    const answer = await made.ask(initialize)
    this.#starting = undefined
    const agreed = answer && new JsonObject(answer.text, 0).raw('result')
    if (agreed !== undefined) return { made, agreed }
    await endServer(server)
    return this.#failed(await server.exited)
  }

  #failed(exit: ServerExit): never {
    const { exitCode, signal } = exit
    if (this.#ending || this.#clientLeft) this.#end(exit)
    throw new Error(`the server did not start (${signal ?? `exit ${exitCode}`})`)
  }

  /** Repeats the state of the previous process. @returns the list methods with changed results */
  async #catchUp(made: Generation, agreed: string | undefined): Promise<string[]> {
    const { initialize, initialized, level, subscriptions, listings } = this.#memory
    const ask = (text: string): Promise<Message | undefined> => made.ask(text, this.#options.timeoutMs)
    if (initialize !== undefined && agreed === undefined) await made.tell(initialize)
    if (agreed === undefined) return []
    if (initialized !== undefined) await made.tell(initialized)
    if (level !== undefined) await ask(level)
    for (const text of subscriptions.values()) await ask(text)
    const changed: string[] = []
    for (const [key, { method, params, digest }] of listings) {
      const text = `{"jsonrpc":"2.0","id":0,"method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`
      const answer = await ask(text)
      const result = answer && new JsonObject(answer.text, 0).raw('result')
      if (result !== undefined && digestOf(result) === digest) continue
      listings.delete(key)
      if (!changed.includes(method)) changed.push(method)
    }
    return changed
  }
}
