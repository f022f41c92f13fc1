import { setMaxListeners } from 'node:events'
import type http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAnswer, isNamelessError } from '../../model/index.js'
import { createDeadline, failureWords } from '../../transports/index.js'
import {
  argumentHeaders,
  argumentsIn,
  createMirroredTools,
  SseParser,
  idKey,
  JsonObject,
  messagesOrNone,
  reconnectDelayMs,
  standardHeaders,
  type McpHeader,
  type Message,
} from '../../wire/index.js'
import type { ClientEvents, ClientFrame, HttpLink, LinkFailure } from '../link.js'
import { Flow } from './flow.js'
import {
  createClientAgent,
  isEventStream,
  openResponse,
  readBody,
  type HttpRequest,
  type OpenResponse,
} from './http-request.js'
import { OpenFrames } from './open-frames.js'
import { refusalWords } from './refusal-words.js'

export interface HttpClientOptions {
  /** Sent with every request. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** The server's public URL, when the URL is that of our own proxy. @default the URL */
  readonly upstream?: URL
  /** Aborts a connection that is still being opened. */
  readonly opening?: AbortSignal
  /**
   * Time that the end of the handshake waits for the stream on which a legacy server sends its own messages, in
   * milliseconds.
   *
   * @default 2_000
   */
  readonly listenMs?: number
}

const closeMs = 2_000
/** Consecutive failed attempts to open a stream. */
const mostFailures = 20

/**
 * A client of a Streamable HTTP server, of either era. Handles sessions, the protocol version, mirrored headers, event
 * streams and their resumption. Sends nothing before the first frame.
 */
export class StreamableHttpLink implements HttpLink {
  readonly #url: URL
  readonly #options: HttpClientOptions
  readonly #events: ClientEvents
  readonly #agent: http.Agent
  readonly #aborting = new AbortController()
  readonly #flow = new Flow()
  readonly #frames = new OpenFrames()
  readonly #tools = createMirroredTools()
  readonly #reading = new Set<Promise<void>>()
  /** Session and version of the legacy era, which negotiates a version once. */
  #session: string | undefined
  #version: string | undefined
  /** Whether the server has responded. */
  #isReached = false
  /** Whether a stream for the server's own messages is open. */
  #isListening = false
  #closed: Promise<void> | undefined

  constructor(url: URL, options: HttpClientOptions, events: ClientEvents) {
    this.#url = url
    this.#options = options
    this.#events = events
    this.#agent = createClientAgent(url)
    // Any number of requests may be open.
    setMaxListeners(0, this.#aborting.signal)
  }

  async send(frame: ClientFrame): Promise<void> {
    const leaving = this.#frames.add(frame)
    const head = this.#open('POST', 'application/json, text/event-stream', frame, leaving)
    // A response may take its time. The sender waits for the response, and not for this call.
    if (frame.requests > 0) {
      this.#track(
        head.then(
          (response) => this.#receive(response, frame),
          (error: unknown) => this.#fail(frame, error),
        ),
      )
      return
    }
    let response: OpenResponse
    try {
      response = await head
    } catch (error) {
      return this.#fail(frame, error)
    }
    const received = this.#receive(response, frame)
    // A stream may stay open for any time.
    if (isEventStream(response.headers)) this.#track(received)
    else await received
    if (frame.method === 'notifications/initialized' && response.status < 300) await this.#listen()
  }

  hold(wait: boolean): void {
    this.#flow.hold(wait)
  }

  leave(frame: ClientFrame): void {
    this.#frames.leave(frame)
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#end())
  }

  #open(
    method: HttpRequest['method'],
    accept: string,
    frame?: ClientFrame,
    leaving?: AbortSignal,
    more: readonly McpHeader[] = [],
  ): Promise<OpenResponse> {
    const headers = [...this.#headersFor(accept, frame), ...more]
    return openResponse({
      url: this.#url,
      upstream: this.#options.upstream,
      method,
      headers,
      ...(frame && { body: frame.text }),
      agent: this.#agent,
      signals: leaving ? [this.#aborting.signal, leaving] : [this.#aborting.signal],
    })
  }

  #headersFor(accept: string, frame?: ClientFrame): McpHeader[] {
    const headers: McpHeader[] = [['Accept', accept]]
    if (frame) headers.push(['Content-Type', 'application/json'])
    if (this.#session !== undefined) headers.push(['Mcp-Session-Id', this.#session])
    const mirrored = frame ? standardHeaders({ ...frame, subject: frame.name }) : []
    if (mirrored.length === 0 && this.#version !== undefined)
      headers.push(['MCP-Protocol-Version', this.#version])
    const given = [...(frame?.headers ?? this.#paramHeaders(frame)), ...(this.#options.headers ?? [])]
    return [...headers, ...mirrored, ...given.map(([name, value]): McpHeader => [name, value])]
  }

  #paramHeaders(frame: ClientFrame | undefined): McpHeader[] {
    const isCall = frame?.protocolVersion !== undefined && frame.method === 'tools/call'
    const wanted = isCall && this.#tools.of(frame.name ?? '')
    return wanted ? argumentHeaders(wanted, argumentsIn(frame.text)) : []
  }

  #fail(frame: ClientFrame, error: unknown, status?: number): void {
    if (this.#aborting.signal.aborted || this.#frames.hasLeft(frame)) return
    // A refused connection to a server that was reachable before: later frames would only wait.
    const isUnsent = this.#isReached && isConnectionRefused(error)
    this.#giveUp(frame, failureWords(error), { kind: 'broken', isUnsent, ...(status && { status }) })
    if (isUnsent) this.#events.ended(goneFor(error))
  }

  #giveUp(frame: ClientFrame, reason: string, failure: LinkFailure): void {
    this.#frames.remove(frame)
    this.#events.failed(frame, reason, failure)
  }

  #track(work: Promise<void>): void {
    const settled = work.finally(() => this.#reading.delete(settled))
    this.#reading.add(settled)
  }

  async #receive({ status, headers, body }: OpenResponse, frame: ClientFrame): Promise<void> {
    this.#isReached = true
    try {
      const session = headers['mcp-session-id']
      if (frame.method === 'initialize' && status < 300 && typeof session === 'string')
        this.#session = session
      if (isEventStream(headers)) return await this.#follow(body, frame)
      const { text, isLossy } = await readBody(body, this.#flow)
      const isFine = status >= 200 && status < 300
      if (text.trim() !== '' && (isFine || this.#answers(text, frame))) this.#take(text, frame, isLossy)
      if (!isFine && (frame.requests === 0 || this.#frames.isOpen(frame))) {
        const { location } = headers
        return this.#giveUp(frame, refusalWords(status, location, text), {
          kind: 'refused',
          status,
          body: text,
          ...(location !== undefined && { location }),
        })
      }
      // Some servers accept a request and respond on the other stream, which official clients allow.
      const comesLater = status === 202 && this.#isListening
      if (isFine && !comesLater && this.#frames.isOpen(frame))
        this.#giveUp(frame, `HTTP ${status} without a response`, { kind: 'unanswered', status })
    } catch (error) {
      this.#fail(frame, error, status)
    }
  }

  /** Whether the body of a refusal contains a response to the frame. */
  #answers(text: string, frame: ClientFrame): boolean {
    return frame.requests > 0 && messagesOrNone(text).some((message) => isAnswerTo(frame, message))
  }

  #take(text: string, via: ClientFrame | undefined, isLossy: boolean): void {
    for (const message of messagesOrNone(text)) {
      const { envelope } = message
      if (!isAnswer(envelope)) continue
      this.#learn(message, via)
      if (via && isAnswerTo(via, message)) this.#frames.answered(via)
      else if (envelope.id !== undefined) this.#frames.answeredId(envelope.id)
    }
    this.#events.message(text, via, isLossy)
  }

  #learn({ text, envelope }: Message, via: ClientFrame | undefined): void {
    if (envelope.kind !== 'result') return
    // Only the initialize result negotiates the version for all later requests.
    if (!envelope.modern) {
      const said = via?.method === 'initialize' ? versionIn(text) : envelope.protocolVersion
      this.#version = said ?? this.#version
    }
    if (via === undefined || via.method === 'tools/list') this.#tools.learn(text)
  }

  /**
   * Reads an event stream to its end, and resumes it after each interruption, by its last event id. A stream without a
   * request is always reopened; one of the modern era never.
   */
  async #follow(first: http.IncomingMessage, frame: ClientFrame | undefined): Promise<void> {
    const { signal } = this.#aborting
    let body: http.IncomingMessage | undefined = first
    let lastId: string | undefined
    let waitMs = reconnectDelayMs()
    const mayResume = (): boolean =>
      frame === undefined || (lastId !== undefined && frame.protocolVersion === undefined)
    while (body) {
      const parser = new SseParser()
      try {
        for await (const chunk of body as AsyncIterable<Buffer>) {
          await this.#flow.opened()
          for (const event of parser.push(chunk)) {
            lastId = event.id ?? lastId
            if (event.retry !== undefined) waitMs = reconnectDelayMs(event.retry)
            const { data } = event
            if (data === undefined || data === '' || (event.event || 'message') !== 'message') continue
            this.#take(data, frame, event.lossy === true)
          }
        }
      } catch (error) {
        if (frame && !mayResume() && this.#isWanted(frame)) return this.#fail(frame, error)
      }
      if (signal.aborted || !this.#isWanted(frame)) return
      if (!mayResume()) break
      body = await this.#openStream(lastId, waitMs, frame)
    }
    if (signal.aborted || !frame || !this.#isWanted(frame)) return
    const kind = mayResume() ? 'lost' : 'unanswered'
    this.#giveUp(frame, 'the event stream ended without a response', { kind, status: 200 })
  }

  /** Whether a response for the frame is still awaited. */
  #isWanted(frame: ClientFrame | undefined): boolean {
    return frame === undefined || (this.#frames.isOpen(frame) && !this.#frames.hasLeft(frame))
  }

  /** Undefined when the server refuses, or is gone. @param waitMs delay before each attempt */
  async #openStream(
    lastId: string | undefined,
    waitMs: number,
    frame?: ClientFrame,
  ): Promise<http.IncomingMessage | undefined> {
    const { signal } = this.#aborting
    const resuming: McpHeader[] = lastId === undefined ? [] : [['Last-Event-ID', lastId]]
    for (let failures = 0; failures < mostFailures; failures += 1) {
      if (waitMs > 0) await pause(waitMs, signal)
      if (signal.aborted || !this.#isWanted(frame)) return undefined
      try {
        const response = await this.#open('GET', 'text/event-stream', undefined, undefined, resuming)
        if (response.status === 200 && isEventStream(response.headers)) return response.body
        response.body.resume()
        // A gateway may report an error while its server is starting.
        if (response.status < 500) return undefined
      } catch (error) {
        if (!isConnectionRefused(error)) continue
        if (!signal.aborted) this.#events.ended(goneFor(error))
        return undefined
      } finally {
        waitMs ||= reconnectDelayMs()
      }
    }
    return undefined
  }

  /** Opens the stream on which a legacy server sends its own messages; 405 when it has none. */
  async #listen(): Promise<void> {
    if (this.#isListening) return
    const opened = this.#openStream(undefined, 0).then((body) => {
      if (!body) return
      this.#isListening = true
      this.#track(this.#follow(body, undefined).finally(() => (this.#isListening = false)))
    })
    this.#track(opened)
    const { listenMs = 2_000 } = this.#options
    if (listenMs > 0) await Promise.race([opened, pause(listenMs, this.#aborting.signal)])
  }

  async #end(): Promise<void> {
    this.#aborting.abort()
    this.#flow.hold(false)
    await Promise.allSettled(this.#reading)
    if (this.#session !== undefined) {
      const patience = createDeadline({ ms: closeMs })
      await openResponse({
        url: this.#url,
        upstream: this.#options.upstream,
        method: 'DELETE',
        headers: this.#headersFor('application/json'),
        agent: this.#agent,
        signals: [patience.signal],
      })
        .then(({ body }) => body.resume())
        .catch(() => undefined)
      patience.close()
    }
    this.#agent.destroy()
  }
}

/** Whether a message responds to the frame. A response without an id belongs to the request of its HTTP response. */
function isAnswerTo({ id }: ClientFrame, { envelope }: Message): boolean {
  if (!isAnswer(envelope)) return false
  return (
    id === undefined ||
    isNamelessError(envelope) ||
    (envelope.id !== undefined && idKey(envelope.id) === idKey(id))
  )
}

function versionIn(result: string): string | undefined {
  return new JsonObject(result, 0).object('result')?.string('protocolVersion')
}

function goneFor(error: unknown): string {
  return `the server is unreachable: ${failureWords(error)}`
}

function isConnectionRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}

/** Ends early when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined)
}
