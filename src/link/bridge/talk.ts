import { randomUUID } from 'node:crypto'
import { createRecent, isAnswer } from '../../model/index.js'
import { idKey, failureText, messagesIn, type Message, withIds } from '../../wire/index.js'
import type { ServerExit, StartServer, Watchdog } from '../../transports/index.js'
import type { AnswerSink } from '../server/answer-sink.js'
import type { EventStream } from '../server/event-stream.js'
import type { ServerLines } from '../client/server-lines.js'
import { startStdioServer, type StdioServerHandlers } from './stdio-server.js'
import type { Utf8Watch } from '../utf8-watch.js'

/** A client of a server: an HTTP session, or a client of the modern era, which has none. */
export interface Party {
  /** The client's own stream, which may be waiting for a connection. A client of the modern era has none. */
  readonly stream: EventStream | undefined
}

/** One server process, and its open requests. */
export interface Talk {
  readonly parties: Set<Party>
  /** Whether the process has ended. */
  readonly gone: boolean
  /** Whether there are no open requests. */
  readonly idle: boolean
  /** Sends a request. Its response and related messages go to `sink`. @returns a handle that cancels it */
  request(message: Message, sink: AnswerSink, party: Party): Promise<{ cancel(): void }>
  /** Sends a notification or a response. */
  tell(message: Message, party: Party): Promise<void>
  /** A client stops accepting messages, or resumes. */
  hold(party: Party, wait: boolean): void
  stop(): Promise<void>
}

/** A line that is not a message; a response without a request; a message for an absent client. */
export type Stray = 'noise' | 'answer' | 'unheard'

export interface TalkOptions {
  readonly command: readonly string[]
  readonly start: StartServer
  /** Whether independent clients share the process, so that their ids must be made unique. */
  readonly shared: boolean
  /** Ends the process and its children if we are killed. */
  readonly watchdog?: Watchdog
  readonly watch: Utf8Watch
  onErrors(chunk: Buffer): void
  /** An original message of the server. */
  onMessage(message: Message): void
  /** Output that is not forwarded, with line ends. @param why undefined where that is normal */
  onStray(bytes: Buffer, why: Stray | undefined): void
  /** The server sent a request that may be for several clients, and one was chosen. */
  onGuess(): void
  /** The process is gone; do not use its `Talk` again. @param why undefined when we ended it */
  onExit(why: string | undefined): void
}

/** Server requests that may still be cancelled. */
const mostAsked = 1_000
/** Cancelled requests whose responses may still arrive. */
const mostLeft = 1_000

interface Pending {
  /** Exact texts of the client's own id and progress token. */
  readonly id: string
  readonly token: string | undefined
  /** The id that was sent to the server. */
  readonly sentId: string
  /** Whether the id for the server differs from the client's. */
  readonly renamed: boolean
  readonly sink: AnswerSink
  readonly party: Party
  /** Whether the client has cancelled it. A response that still arrives is forwarded. */
  cancelled: boolean
}

/** @returns the reason why the server could not be started, as a sentence */
export async function startTalk(options: TalkOptions): Promise<Talk | string> {
  const talk = new StdioTalk(options)
  return (await talk.start()) ?? talk
}

class StdioTalk implements Talk {
  readonly parties = new Set<Party>()
  readonly #options: TalkOptions
  readonly #pending = new Map<string, Pending>()
  readonly #tokens = new Map<string, Pending>()
  /** The client that received each server request, by the id of the request. */
  readonly #asked = createRecent<Party>({ entries: mostAsked })
  /** Clients that do not read, with the number of their slow streams. */
  readonly #slow = new Map<Party, number>()
  readonly #left = createRecent<Pending>({ entries: mostLeft })
  readonly #run = randomUUID().slice(0, 8)
  #server!: ServerLines
  #count = 0
  #lastParty: Party | undefined
  #isHeld = false
  #goneWhy: string | undefined
  #isStopped = false

  constructor(options: TalkOptions) {
    this.#options = options
  }

  /** @returns the reason why the server could not be started */
  async start(): Promise<string | undefined> {
    const options = this.#options
    const handlers: StdioServerHandlers = {
      watch: options.watch,
      onMessage: (message) => {
        options.onMessage(message)
        if (isAnswer(message.envelope)) this.#answered(message)
        else this.#said(message)
      },
      onErrors: (chunk) => options.onErrors(chunk),
      onNoise: (bytes) =>
        options.onStray(bytes, /^\s*$/.test(bytes.toString('latin1')) ? undefined : 'noise'),
      onExit: (exit) => this.#gone(exit),
    }
    const started = await startStdioServer(options.command, handlers, options.start, options.watchdog)
    if ('error' in started) return started.error
    this.#server = started
    return undefined
  }

  get gone(): boolean {
    return this.#goneWhy !== undefined
  }

  get idle(): boolean {
    return this.#waiting().length === 0
  }

  async request(message: Message, sink: AnswerSink, party: Party): Promise<{ cancel(): void }> {
    const { text, envelope } = message
    this.#lastParty = party
    this.#count += 1
    const id = envelope.id!
    // Two open requests with the same id (a deliberately repeated message) each get a response.
    const renamed = this.#options.shared || this.#pending.has(idKey(id))
    const sentId = renamed ? `"${this.#run}-${this.#count}"` : id
    if (this.#goneWhy !== undefined) {
      give(sink, failureText(id, 502, this.#goneWhy))
      return { cancel: () => undefined }
    }
    const token = envelope.progressToken
    const one: Pending = { id, token, sentId, renamed, sink, party, cancelled: false }
    this.#pending.set(idKey(sentId), one)
    this.#regulate()
    if (token !== undefined) this.#tokens.set(idKey(renamed ? sentId : token), one)
    await this.#server.send(renamed ? withIds(text, { id: sentId, ownProgressToken: sentId }) : text)
    return { cancel: () => this.#cancel(one) }
  }

  tell({ text, envelope }: Message, party: Party): Promise<void> {
    this.#lastParty = party
    if (isAnswer(envelope) && envelope.id !== undefined) this.#asked.delete(idKey(envelope.id))
    if (envelope.cancels === undefined) return this.#server.send(text)
    const meant = [...this.#pending.values()].findLast(
      (one) => one.party === party && idKey(one.id) === idKey(envelope.cancels!),
    )
    if (meant) meant.cancelled = true
    return this.#server.send(meant?.renamed ? withIds(text, { cancels: meant.sentId }) : text)
  }

  hold(party: Party, wait: boolean): void {
    const streams = (this.#slow.get(party) ?? 0) + (wait ? 1 : -1)
    if (streams > 0) this.#slow.set(party, streams)
    else this.#slow.delete(party)
    this.#regulate()
  }

  stop(): Promise<void> {
    this.#isStopped = true
    return this.#server.close()
  }

  /** Requests whose clients wait for a response. */
  #waiting(): Pending[] {
    return [...this.#pending.values()].filter((one) => !one.cancelled)
  }

  #cancel(one: Pending): void {
    const { sentId } = one
    if (this.#pending.get(idKey(sentId)) !== one) return
    this.#forget(one)
    this.#left.set(idKey(sentId), one)
    const params = `{"requestId":${sentId}}`
    void this.#server.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`)
  }

  #answered({ text, envelope }: Message): void {
    const key = envelope.id === undefined ? undefined : idKey(envelope.id)
    const one = key === undefined ? undefined : this.#pending.get(key)
    if (!one) {
      const late = key === undefined ? undefined : this.#left.get(key)
      return this.#stray(late?.renamed ? withIds(text, { id: late.id }) : text, late ? undefined : 'answer')
    }
    this.#forget(one)
    give(one.sink, one.renamed ? withIds(text, { id: one.id, subscriptionId: one.id }) : text)
  }

  #stray(text: string, why: Stray | undefined): void {
    this.#options.onStray(Buffer.from(`${text}\n`), why)
  }

  #forget(one: Pending): void {
    this.#pending.delete(idKey(one.sentId))
    if (one.token !== undefined) this.#tokens.delete(idKey(one.renamed ? one.sentId : one.token))
  }

  /** Handles a request or a notification of the server. */
  #said({ text, envelope }: Message): void {
    const { progressToken, subscriptionId, cancels, kind } = envelope
    const progress =
      kind === 'notification' && progressToken !== undefined
        ? this.#tokens.get(idKey(progressToken))
        : undefined
    if (progress) {
      const isOther = progress.renamed && progress.token !== undefined
      const own = isOther ? withIds(text, { progressToken: progress.token }) : text
      return this.#deliver(progress.party, own, progress.sink)
    }
    const { shared } = this.#options
    const listened = this.#pending.get(idKey(subscriptionId ?? (shared ? (cancels ?? '') : '')))
    if (listened) {
      const own = listened.renamed
        ? withIds(text, { subscriptionId: listened.id, cancels: listened.id })
        : text
      return this.#deliver(listened.party, own, listened.sink)
    }
    // Cancellation of a request that the server sent to one of the clients.
    const meant = cancels === undefined ? undefined : this.#asked.get(idKey(cancels))
    if (meant) return this.#deliver(meant, text, this.#newestOf(meant)?.sink)
    // The message names no client. A request goes to one client, a notification to all.
    if (kind === 'request' || this.parties.size === 0) return this.#toOne({ text, envelope })
    for (const party of this.parties) this.#deliver(party, text, this.#newestOf(party)?.sink)
  }

  /** Sends to the client with the latest request, or else to the most recent client. */
  #toOne({ text, envelope }: Message): void {
    const newest = this.#waiting().at(-1)
    const last = this.#lastParty && this.parties.has(this.#lastParty) ? this.#lastParty : undefined
    const party = newest?.party ?? last ?? [...this.parties].at(-1)
    if (!party) return this.#stray(text, 'unheard')
    if (envelope.kind === 'request') {
      this.#ask(envelope.id, party)
      if (new Set(this.#waiting().map((one) => one.party)).size > 1) this.#options.onGuess()
    }
    this.#deliver(party, text, newest?.sink)
  }

  #newestOf(party: Party): Pending | undefined {
    return this.#waiting().findLast((one) => one.party === party)
  }

  #ask(id: string | undefined, party: Party): void {
    if (id === undefined) return
    this.#asked.set(idKey(id), party)
  }

  #deliver(party: Party, text: string, sink: AnswerSink | undefined): void {
    if (sink?.streams) sink.message(text)
    else if (party.stream) party.stream.message(text)
    else this.#stray(text, 'unheard')
  }

  /** @param exit undefined when the process still runs without stdout */
  #gone(exit: ServerExit | undefined): void {
    const how = exit ? `ended (${exit.signal ?? `exit ${exit.exitCode}`})` : 'closed its stdout'
    const why = this.#isStopped ? 'the server was stopped' : `the server ${how}`
    if (!exit) void this.#server.close()
    this.#goneWhy = why
    for (const one of this.#pending.values()) give(one.sink, failureText(one.id, 502, why))
    this.#pending.clear()
    this.#options.onExit(this.#isStopped ? undefined : why)
  }

  /** Slow clients may hold the server as long as no other client needs it. */
  #regulate(): void {
    if (this.#slow.size === 0 && !this.#isHeld) return
    const concerned = [...this.parties, ...this.#waiting().map((one) => one.party)]
    const wait = this.#slow.size > 0 && concerned.every((party) => this.#slow.has(party))
    if (wait !== this.#isHeld) this.#server.hold(wait)
    this.#isHeld = wait
  }
}

function give(sink: AnswerSink, text: string): void {
  const [message] = messagesIn(text) ?? []
  if (message) sink.answer(message)
}
