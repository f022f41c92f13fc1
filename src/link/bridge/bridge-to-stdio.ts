import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  startLocalServer,
  startServer,
  startWatchdog,
  type LocalServer,
  type LocalServerOptions,
  type StartServer,
} from '../../transports/index.js'
import type { Message } from '../../wire/index.js'
import { createMirroredHeaders } from '../mirrored-headers.js'
import { createAnswerSink } from '../server/answer-sink.js'
import { createEventLog } from '../server/event-log.js'
import { EventStream } from '../server/event-stream.js'
import { acceptsEvents } from '../server/media-types.js'
import { isModern } from '../server/modern-request.js'
import { readPost } from '../server/read-post.js'
import { accept, refuse } from '../server/refuse.js'
import { createUtf8Watch, type Utf8Watch } from '../utf8-watch.js'
import { createHttpSession, type HttpSession } from './http-session.js'
import { startTalk, type Party, type Stray, type Talk } from './talk.js'

export interface StdioBridgeOptions {
  /** The server's argv. */
  readonly command: readonly string[]
  /** One process for all clients; otherwise one per session, and one for clients without (2026-07-28). */
  readonly shared: boolean
  /** Listening address, and access to it. @default any free port of 127.0.0.1, our own user and root */
  readonly listen?: Pick<LocalServerOptions, 'host' | 'port' | 'access'>
  /** @default a process that is never replaced */
  readonly start?: StartServer
  /** Output of servers on stderr. */
  onErrors(chunk: Buffer): void
  /** Output of a server on stdout that is not forwarded, line by line, with line ends. */
  onStray(bytes: Buffer): void
  /** A server's message that no client of the session could receive. @param session its `Mcp-Session-Id` */
  onUnheard(session: string, text: string): void
  /** A notice for the user, in one line. */
  onNotice(line: string): void
}

/** A stdio server, offered as an HTTP server on loopback. */
export interface StdioBridge {
  readonly url: URL
  /** First part of the path that requests must have; not included in `url`. */
  readonly prefix: string
  /** Ends all processes. Open requests get a response, new ones are refused. Can be called twice. */
  endServers(): Promise<void>
  /** Ends the processes and the connections. Can be called twice. */
  close(): Promise<void>
}

/** Each session may have its own process. */
const mostSessions = 100
/** Age of a session without requests and streams at which its client counts as gone. */
const idleMs = 30 * 60 * 1000
const sweepMs = 60 * 1000
const mostNotices = 20
/** Characters of events kept for clients that lose a stream, in all sessions together. */
const mostKept = 16 * 1024 * 1024
const mostEvents = 10_000
const path = '/mcp'
const wordsOf: Readonly<Record<Stray, string>> = {
  noise: 'the server wrote a line to stdout that is not a message',
  answer: 'the server sent a response that matches no pending request',
  unheard: 'the server sent a message while no client was connected',
}
const cutNotice =
  'a client that does not read was disconnected, so that other clients of the same server process need not wait'
const guessNotice =
  'the server sent a request while several clients were waiting: a request over stdio names no client, so the client of ' +
  'the latest request got it; without --shared each client has its own server'
const legacyVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

/** The route of the messages of one POST to a server. */
interface Way {
  readonly talk: Talk
  readonly party: Party
  /** A stream for messages before the responses, and for responses that a client may request again. */
  readonly newStream: () => EventStream
  /** A response whose client has disconnected. */
  readonly onUnheard: (text: string) => void
  readonly isBatch: boolean
  readonly modern: boolean
  readonly session?: string
}

/** @throws WiretapeError `usage` when it cannot listen */
export async function startStdioBridge(options: StdioBridgeOptions): Promise<StdioBridge> {
  const bridge = new BridgeToStdio(options)
  await bridge.listen()
  return bridge
}

class BridgeToStdio implements StdioBridge {
  readonly #options: StdioBridgeOptions
  readonly #sessions = new Map<string, HttpSession>()
  readonly #talks = new Set<Talk>()
  readonly #starting = new Set<Promise<unknown>>()
  readonly #mirrored = createMirroredHeaders()
  readonly #log = createEventLog(mostKept, mostEvents)
  // Started before any server, so that no server inherits it and holds its input open.
  readonly #watchdog = startWatchdog({ groups: true })
  readonly #watch: Utf8Watch
  /** Notices already written. Hundreds of servers may have the same problem, so each is written once. */
  readonly #told = new Set<string>()
  readonly #sweep: NodeJS.Timeout
  #server!: LocalServer
  /** The process of clients without sessions, or of all clients. */
  #common: Promise<Talk | string> | undefined
  #ending: Promise<void> | undefined
  #closing: Promise<void> | undefined

  constructor(options: StdioBridgeOptions) {
    this.#options = options
    this.#watch = createUtf8Watch((line) => this.#notice(line))
    this.#sweep = setInterval(() => this.#endIdle(), sweepMs).unref()
  }

  get url(): URL {
    return new URL(path, this.#server.origin)
  }

  get prefix(): string {
    return this.#server.prefix
  }

  async listen(): Promise<void> {
    this.#server = await startLocalServer({
      ...(this.#options.listen ?? { host: '127.0.0.1', port: 0 }),
      onRequest: (request, response) => {
        this.#handle(request, response).catch(() => response.destroy())
      },
    })
  }

  endServers(): Promise<void> {
    return (this.#ending ??= this.#endAll())
  }

  close(): Promise<void> {
    return (this.#closing ??= this.endServers().then(() => this.#server.close()))
  }

  #notice(line: string): void {
    if (this.#told.has(line) || this.#told.size >= mostNotices) return
    this.#told.add(line)
    this.#options.onNotice(line)
  }

  #unheardIn(session: string, text: string): void {
    this.#options.onUnheard(session, text)
    this.#notice(noticeOf('unheard'))
  }

  /** A message for a client without a session that could not be delivered. */
  #unheard(text: string): void {
    this.#options.onStray(Buffer.from(`${text}\n`))
    this.#notice(noticeOf('unheard'))
  }

  #openTalk(shared: boolean): Promise<Talk | string> {
    let own: Talk | undefined
    const { command, start = startServer } = this.#options
    const opening = startTalk({
      command,
      start,
      shared,
      watchdog: this.#watchdog,
      watch: this.#watch,
      onErrors: (chunk) => this.#options.onErrors(chunk),
      onMessage: (message) => this.#mirrored.learn(message),
      onStray: (bytes, why) => {
        this.#options.onStray(bytes)
        if (why) this.#notice(noticeOf(why))
      },
      onGuess: () => this.#notice(guessNotice),
      onExit: (why) => {
        if (why !== undefined) this.#notice(why)
        if (shared) this.#common = undefined
        if (own) this.#talks.delete(own)
        for (const session of this.#sessions.values()) {
          if (session.talk !== own) continue
          this.#sessions.delete(session.id)
          session.end()
        }
      },
    })
    const started = opening.then((talk) => {
      this.#starting.delete(started)
      if (typeof talk === 'string') {
        if (shared) this.#common = undefined
        this.#notice(talk)
      } else {
        own = talk
        if (!talk.gone) this.#talks.add(talk)
      }
      return talk
    })
    this.#starting.add(started)
    return started
  }

  #commonTalk(): Promise<Talk | string> {
    return (this.#common ??= this.#openTalk(true))
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#ending) return refuse(response, 503, 'the recorder is stopping')
    if ((request.url ?? '').split('?')[0] !== path) return refuse(response, 404, 'not found')
    if (request.method === 'POST') return this.#post(request, response)
    request.resume()
    if (isModern(request.headers, [])) return refuse(response, 405, 'this protocol version uses only POST')
    if (request.method === 'GET') return this.#openStream(request, response)
    if (request.method !== 'DELETE') return refuse(response, 405, 'only POST, GET and DELETE are supported')
    const session = this.#sessionOf(request, response)
    if (!session) return
    this.#leave(session)
    response.writeHead(200).end()
  }

  #leave(session: HttpSession): void {
    this.#sessions.delete(session.id)
    session.talk.parties.delete(session)
    session.end()
    if (!this.#options.shared) void session.talk.stop()
  }

  /** Undefined when the request was refused. */
  #sessionOf(request: IncomingMessage, response: ServerResponse): HttpSession | undefined {
    const found = this.#findSession(request)
    if ('why' in found) {
      refuse(response, found.status, found.why)
      return undefined
    }
    found.usedMs = performance.now()
    return found
  }

  #findSession({ headers }: IncomingMessage): HttpSession | { status: number; why: string } {
    const version = headers['mcp-protocol-version']
    if (typeof version === 'string' && !legacyVersions.includes(version))
      return { status: 400, why: `the protocol version ${version.slice(0, 40)} is not supported` }
    const id = headers['mcp-session-id']
    if (typeof id !== 'string') return { status: 400, why: 'the header Mcp-Session-Id is missing' }
    const session = this.#sessions.get(id)
    return session && !session.talk.gone ? session : { status: 404, why: 'no such session' }
  }

  #openStream(request: IncomingMessage, response: ServerResponse): void {
    if (!acceptsEvents(request.headers.accept))
      return refuse(response, 406, 'a GET must accept text/event-stream')
    const session = this.#sessionOf(request, response)
    if (!session) return
    const primed = isPrimed(request)
    const lastId = request.headers['last-event-id']
    if (typeof lastId === 'string') {
      const found = session.findEvent(lastId)
      if (!found) return refuse(response, 400, 'the events after this one are no longer available')
      found.stream.open(response, { after: found.number, primed })
    } else {
      if (session.stream.isOpen) return refuse(response, 409, 'this session already has an open stream')
      session.stream.open(response, { primed })
    }
    response.once('close', () => (session.usedMs = performance.now()))
  }

  async #post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const post = await readPost(request, { contentType: true, accept: 'json', mirrored: this.#mirrored })
    if ('kind' in post) return refuse(response, post.status, post.why, post.code, post.id)
    const { messages, batch: isBatch } = post
    this.#watch(post.bytes)
    if (post.isModern) return this.#postModern(request, response, messages[0]!)
    if (messages.some(({ envelope }) => envelope.method === 'initialize'))
      return this.#begin(request, response, messages, isBatch)
    const session = this.#sessionOf(request, response)
    if (!session) return
    const { talk, newStream, id } = session
    const onUnheard = (text: string): void => this.#unheardIn(id, text)
    await pass(request, response, messages, {
      talk,
      party: session,
      newStream,
      onUnheard,
      isBatch,
      modern: false,
    })
  }

  async #postModern(request: IncomingMessage, response: ServerResponse, message: Message): Promise<void> {
    const talk = await this.#commonTalk()
    if (typeof talk === 'string') return refuse(response, 502, talk)
    const party: Party = { stream: undefined }
    const onUnheard = (text: string): void => this.#unheard(text)
    const newStream = (): EventStream =>
      new EventStream({
        onSlow: (slow) => talk.hold(party, slow),
        onCut: () => this.#notice(cutNotice),
        onUnheard,
      })
    await pass(request, response, [message], {
      talk,
      party,
      newStream,
      onUnheard,
      isBatch: false,
      modern: true,
    })
  }

  /** Begins a session. */
  async #begin(
    request: IncomingMessage,
    response: ServerResponse,
    messages: readonly Message[],
    isBatch: boolean,
  ): Promise<void> {
    if (isBatch) return refuse(response, 400, 'initialize cannot be part of a batch', -32_600)
    if (this.#sessions.size >= mostSessions)
      return refuse(response, 503, `the limit of ${mostSessions} sessions is reached`)
    const talk = await (this.#options.shared ? this.#commonTalk() : this.#openTalk(false))
    if (typeof talk === 'string') return refuse(response, 502, talk, 502, messages[0]!.envelope.id)
    const session = createHttpSession({
      talk,
      log: this.#log,
      onCut: () => this.#notice(cutNotice),
      onUnheard: (id, text) => this.#unheardIn(id, text),
    })
    this.#sessions.set(session.id, session)
    talk.parties.add(session)
    await pass(request, response, messages, {
      talk,
      party: session,
      newStream: () => session.newStream(),
      onUnheard: (text) => this.#unheardIn(session.id, text),
      isBatch,
      modern: false,
      session: session.id,
    })
  }

  #endIdle(): void {
    const oldest = performance.now() - idleMs
    for (const session of this.#sessions.values())
      if (session.usedMs <= oldest && !session.stream.isOpen && session.talk.idle) this.#leave(session)
  }

  async #endAll(): Promise<void> {
    clearInterval(this.#sweep)
    await Promise.all(this.#starting)
    await Promise.all([...this.#talks].map((talk) => talk.stop()))
    this.#watchdog.dismiss()
  }
}

/** Sends the messages of a POST to the server, and its responses to the HTTP response. */
async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  messages: readonly Message[],
  { talk, party, newStream, onUnheard, isBatch, modern, session }: Way,
): Promise<void> {
  const asking = messages.filter(({ envelope }) => envelope.kind === 'request')
  const others = messages.filter(({ envelope }) => envelope.kind !== 'request')
  // The pipe preserves this order.
  const told = others.map((message) => talk.tell(message, party))
  if (asking.length === 0) {
    await Promise.all(told)
    return accept(response)
  }
  const sink = createAnswerSink({
    response,
    stream: newStream(),
    primed: !modern && session === undefined && isPrimed(request),
    acceptsEvents: acceptsEvents(request.headers.accept ?? '', true),
    modern: modern ? asking[0]?.text : undefined,
    requests: asking.length,
    batch: isBatch,
    onUnheard,
    ...(session !== undefined && { session }),
  })
  const sent = await Promise.all(asking.map((message) => talk.request(message, sink, party)))
  if (!modern) return
  // In the modern era, disconnecting cancels. In the legacy era, a stream may be resumed.
  response.once('close', () => {
    if (!response.writableFinished) for (const one of sent) one.cancel()
  })
  if (response.destroyed) for (const one of sent) one.cancel()
}

function noticeOf(why: Stray): string {
  return `${wordsOf[why]}: it is on the tape, and was not forwarded`
}

/** Since 2025-11-25, clients know the meaning of an event without data. */
function isPrimed({ headers }: IncomingMessage): boolean {
  const version = headers['mcp-protocol-version']
  return typeof version === 'string' && version >= '2025-11-25'
}
