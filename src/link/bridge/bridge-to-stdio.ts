import type { IncomingMessage, ServerResponse } from 'node:http'
import { isAnswer } from '../../model/index.js'
import {
  startLocalServer,
  type LocalServerOptions,
  startServer,
  type StartServer,
  startWatchdog,
} from '../../transports/index.js'
import { createAnswerSink } from '../server/answer-sink.js'
import { createEventLog } from '../server/event-log.js'
import { createEventStream, type EventStream } from '../server/event-stream.js'
import { createHttpSession, type HttpSession } from './http-session.js'
import { createMirroredHeaders } from '../mirrored-headers.js'
import { headerFault, isModern } from '../server/modern-request.js'
import { readBody } from '../server/read-body.js'
import { refuse } from '../server/refuse.js'
import { startTalk, type Party, type Stray, type Talk } from './talk.js'
import { createUtf8Watch } from '../utf8-watch.js'
import { messagesIn, type Message } from '../../wire/index.js'

export interface StdioBridgeOptions {
  /** The server's argv. */
  readonly command: readonly string[]
  /** One process for all clients; else one for each session, and one for clients that have none (2026-07-28). */
  readonly shared: boolean
  /** Where clients of its own reach it, and who may. @default any free port of 127.0.0.1, our own user and root */
  readonly listen?: Pick<LocalServerOptions, 'host' | 'port' | 'access'>
  /** @default as a process that is never replaced */
  readonly start?: StartServer
  /** What servers write to stderr. */
  onErrors(chunk: Buffer): void
  /** What a server wrote to stdout that is passed on to nobody, line by line, with line ends. */
  onStray(bytes: Buffer): void
  /** A message of a server that no client of the session was there to hear. @param session its `Mcp-Session-Id` */
  onUnheard(session: string, text: string): void
  /** Something the user should know, in one line. */
  onNotice(line: string): void
}

/** A server on stdio, as an HTTP server on loopback. */
export interface StdioBridge {
  readonly url: URL
  /** First part of the path of requests to it, which they need and `url` does not have. */
  readonly prefix: string
  /** Ends all processes; what is open is answered, and nothing new begins. Can be called twice. */
  endServers(): Promise<void>
  /** Ends the processes, and the connections. Can be called twice. */
  close(): Promise<void>
}

/** Each may be a process. */
const mostSessions = 100
/** Without a request and without a stream; its client has gone without a word. */
const idleMs = 30 * 60 * 1000
const sweepMs = 60 * 1000
const mostNotices = 20
/** Characters of events for clients that lose a stream, of all sessions together. */
const mostKept = 16 * 1024 * 1024
const mostEvents = 10_000
const wordsOf: Readonly<Record<Stray, string>> = {
  noise: 'the server wrote something to stdout that is no message',
  answer: 'the server answered a request that nobody waits for, or under another id',
  unheard: 'the server said something when no client was there to hear it',
}
const legacyVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']

/** @throws WiretapeError `usage` when it cannot listen */
export async function startStdioBridge(options: StdioBridgeOptions): Promise<StdioBridge> {
  const sessions = new Map<string, HttpSession>()
  const talks = new Set<Talk>()
  const mirrored = createMirroredHeaders()
  const log = createEventLog(mostKept, mostEvents)
  // Before any server: none of them may hold its input open.
  const watchdog = startWatchdog({ groups: true })
  let common: Promise<Talk | string> | undefined
  let ending: Promise<void> | undefined
  let closing: Promise<void> | undefined
  const starting = new Set<Promise<unknown>>()

  /** Each once: what ails one server may ail hundreds. */
  const told = new Set<string>()
  function notice(line: string): void {
    if (told.has(line) || told.size >= mostNotices) return
    told.add(line)
    options.onNotice(line)
  }

  const watch = createUtf8Watch(notice)
  const unheardIn = (session: string, text: string): void => {
    options.onUnheard(session, text)
    notice(noticeOf('unheard'))
  }
  /** Of a client without a session. */
  const unheard = (text: string): void => {
    options.onStray(Buffer.from(`${text}\n`))
    notice(noticeOf('unheard'))
  }
  const noticeCut = (): void =>
    notice(
      'a client that does not read lost its connection: others of its server process need not wait for it',
    )

  const server = await startLocalServer({
    ...(options.listen ?? { host: '127.0.0.1', port: 0 }),
    onRequest: (request, response) => {
      handle(request, response).catch(() => response.destroy())
    },
  })

  function openTalk(shared: boolean): Promise<Talk | string> {
    let own: Talk | undefined
    const opening = startTalk({
      command: options.command,
      start: options.start ?? startServer,
      shared,
      watchdog,
      watch,
      onErrors: (chunk) => options.onErrors(chunk),
      onMessage: (message) => mirrored.learn(message),
      onStray(bytes, why) {
        options.onStray(bytes)
        if (why) notice(noticeOf(why))
      },
      onGuess: () =>
        notice(
          'the server asked something while several clients waited for it: stdio does not say whom it means, and the ' +
            'one that had asked last was asked; without --shared each has a server of its own',
        ),
      onExit(why) {
        if (why !== undefined) notice(why)
        if (shared) common = undefined
        if (own) talks.delete(own)
        for (const session of sessions.values()) {
          if (session.talk !== own) continue
          sessions.delete(session.id)
          session.end()
        }
      },
    })
    const started = opening.then((talk) => {
      starting.delete(started)
      if (typeof talk === 'string') {
        if (shared) common = undefined
        notice(talk)
      } else {
        own = talk
        if (!talk.gone) talks.add(talk)
      }
      return talk
    })
    starting.add(started)
    return started
  }

  const commonTalk = (): Promise<Talk | string> => (common ??= openTalk(true))

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (ending) return refuse(response, 503, 'the recorder is being ended')
    if ((request.url ?? '').split('?')[0] !== path) return refuse(response, 404, 'there is nothing here')
    if (request.method === 'POST') return post(request, response)
    request.resume()
    if (isModern(request.headers, [])) return refuse(response, 405, 'only POST is for this version')
    if (request.method === 'GET') return openStream(request, response)
    if (request.method !== 'DELETE') return refuse(response, 405, 'only POST, GET and DELETE are understood')
    const session = sessionOf(request, response)
    if (!session) return
    sessions.delete(session.id)
    leave(session)
    response.writeHead(200).end()
  }

  function leave(session: HttpSession): void {
    session.talk.parties.delete(session)
    session.end()
    if (!options.shared) void session.talk.stop()
  }

  /** Undefined when the request was refused. */
  function sessionOf(request: IncomingMessage, response: ServerResponse): HttpSession | undefined {
    const found = findSession(request)
    if ('why' in found) {
      refuse(response, found.status, found.why)
      return undefined
    }
    found.usedMs = performance.now()
    return found
  }

  function findSession({ headers }: IncomingMessage): HttpSession | { status: number; why: string } {
    const version = headers['mcp-protocol-version']
    if (typeof version === 'string' && !legacyVersions.includes(version))
      return { status: 400, why: `the protocol version ${version.slice(0, 40)} is not known` }
    const id = headers['mcp-session-id']
    if (typeof id !== 'string') return { status: 400, why: 'the header Mcp-Session-Id is missing' }
    const session = sessions.get(id)
    return session && !session.talk.gone ? session : { status: 404, why: 'there is no such session' }
  }

  function openStream(request: IncomingMessage, response: ServerResponse): void {
    if (!/text\/event-stream/i.test(request.headers.accept ?? ''))
      return refuse(response, 406, 'a GET has to accept text/event-stream')
    const session = sessionOf(request, response)
    if (!session) return
    const primed = isPrimed(request)
    const lastId = request.headers['last-event-id']
    if (typeof lastId === 'string') {
      const found = session.findEvent(lastId)
      if (!found) return refuse(response, 400, 'what followed this event is not kept any more')
      found.stream.open(response, { after: found.number, primed })
    } else {
      if (session.stream.isOpen) return refuse(response, 409, 'this session has its stream already')
      session.stream.open(response, { primed })
    }
    response.once('close', () => (session.usedMs = performance.now()))
  }

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
      return refuse(response, 415, 'a POST has to be application/json')
    const accept = request.headers.accept ?? '*/*'
    if (!/application\/json|\*\/\*|application\/\*/i.test(accept))
      return refuse(response, 406, 'a POST has to accept application/json and text/event-stream')
    const bytes = await readBody(request)
    if (!bytes) return refuse(response, 413, 'the body is longer than 64 MB')
    const body = bytes.toString('utf8')
    const messages = messagesIn(body)
    const [first] = messages ?? []
    if (!messages || !first) return refuse(response, 400, 'the body is no JSON-RPC', -32_700)
    const invalid = messages.find(({ envelope }) => envelope.kind === 'invalid')
    if (invalid) return refuse(response, 400, invalid.envelope.problem ?? 'the body is no JSON-RPC', -32_600)
    watch(bytes)
    const isBatch = /^\s*\[/.test(body)
    if (isModern(request.headers, messages)) return postModern(request, response, first, messages.length)
    if (messages.some(({ envelope }) => envelope.method === 'initialize'))
      return begin(request, response, messages, isBatch)
    const session = sessionOf(request, response)
    if (!session) return
    const { talk, newStream } = session
    const onUnheard = (text: string): void => unheardIn(session.id, text)
    const way = { talk, party: session, newStream, onUnheard, isBatch, modern: false }
    await pass(request, response, messages, way)
  }

  async function postModern(
    request: IncomingMessage,
    response: ServerResponse,
    message: Message,
    count: number,
  ): Promise<void> {
    if (count > 1 || isAnswer(message.envelope))
      return refuse(response, 400, 'a POST is one request or one notification', -32_600)
    const fault = headerFault(request.headers, message, mirrored)
    if (fault) return refuse(response, 400, fault.why, fault.code, message.envelope.id)
    const talk = await commonTalk()
    if (typeof talk === 'string') return refuse(response, 502, talk)
    const party: Party = { stream: undefined }
    const newStream = (): EventStream =>
      createEventStream({ onSlow: (slow) => talk.hold(party, slow), onCut: noticeCut, onUnheard: unheard })
    const way = { talk, party, newStream, onUnheard: unheard, isBatch: false, modern: true }
    await pass(request, response, [message], way)
  }

  /** A session begins. */
  async function begin(
    request: IncomingMessage,
    response: ServerResponse,
    messages: readonly Message[],
    isBatch: boolean,
  ): Promise<void> {
    if (isBatch) return refuse(response, 400, 'initialize is no part of a batch', -32_600)
    if (sessions.size >= mostSessions)
      return refuse(response, 503, `there are ${mostSessions} sessions already`)
    const talk = await (options.shared ? commonTalk() : openTalk(false))
    if (typeof talk === 'string') return refuse(response, 502, talk, 502, messages[0]!.envelope.id)
    const session = createHttpSession({ talk, log, onCut: noticeCut, onUnheard: unheardIn })
    sessions.set(session.id, session)
    talk.parties.add(session)
    await pass(request, response, messages, {
      talk,
      party: session,
      newStream: () => session.newStream(),
      onUnheard: (text) => unheardIn(session.id, text),
      isBatch,
      modern: false,
      session: session.id,
    })
  }

  interface Way {
    readonly talk: Talk
    readonly party: Party
    /** For what comes before answers, and for answers that a client may have to ask for again. */
    readonly newStream: () => EventStream
    /** An answer whose client has left. */
    readonly onUnheard: (text: string) => void
    readonly isBatch: boolean
    readonly modern: boolean
    readonly session?: string
  }

  async function pass(
    request: IncomingMessage,
    response: ServerResponse,
    messages: readonly Message[],
    { talk, party, newStream, onUnheard, isBatch, modern, session }: Way,
  ): Promise<void> {
    const asking = messages.filter(({ envelope }) => envelope.kind === 'request')
    const others = messages.filter(({ envelope }) => envelope.kind !== 'request')
    // Pipes take them in this order.
    const told = others.map((message) => talk.tell(message, party))
    if (asking.length === 0) {
      await Promise.all(told)
      response.writeHead(202).end()
      return
    }
    const sink = createAnswerSink({
      response,
      stream: newStream(),
      primed: !modern && session === undefined && isPrimed(request),
      acceptsEvents: /text\/event-stream|\*\/\*/i.test(request.headers.accept ?? ''),
      modern: modern ? asking[0]?.text : undefined,
      requests: asking.length,
      batch: isBatch,
      onUnheard,
      ...(session !== undefined && { session }),
    })
    const sent = await Promise.all(asking.map((message) => talk.request(message, sink, party)))
    if (!modern) return
    // To leave is to cancel; a session of the legacy era may be listened to again.
    response.once('close', () => {
      if (!response.writableFinished) for (const one of sent) one.cancel()
    })
    if (response.destroyed) for (const one of sent) one.cancel()
  }

  const sweep = setInterval(() => {
    const oldest = performance.now() - idleMs
    for (const session of sessions.values()) {
      if (session.usedMs > oldest || session.stream.isOpen || !session.talk.idle) continue
      sessions.delete(session.id)
      leave(session)
    }
  }, sweepMs).unref()

  async function endAll(): Promise<void> {
    clearInterval(sweep)
    await Promise.all(starting)
    await Promise.all([...talks].map((talk) => talk.stop()))
    watchdog.dismiss()
  }

  const endServers = (): Promise<void> => (ending ??= endAll())

  async function closeAll(): Promise<void> {
    await endServers()
    await server.close()
  }

  const { origin, prefix } = server
  return { url: new URL(path, origin), prefix, endServers, close: () => (closing ??= closeAll()) }
}

const path = '/mcp'

function noticeOf(why: Stray): string {
  return `${wordsOf[why]}: it is on the tape, and went to nobody`
}

/** From 2025-11-25 on, clients know what an event without data is for. */
function isPrimed({ headers }: IncomingMessage): boolean {
  const version = headers['mcp-protocol-version']
  return typeof version === 'string' && version >= '2025-11-25'
}
