import http from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { createDeadline } from '../../transports/index.js'
import { failureText, messagesIn, type Message } from '../../wire/index.js'
import { LegacySseLink } from '../client/legacy-sse.js'
import { StreamableHttpLink } from '../client/streamable-http.js'
import { frameOf } from '../frame-of.js'
import type { ClientEvents, ClientFrame, HttpLink, LinkFailure } from '../link.js'
import { StdioServerLink } from '../server/stdio.js'
import { createUtf8Watch, type Utf8Watch } from '../utf8-watch.js'
import { errorFor } from './nameless-error.js'
import { OpenRequests } from './open-requests.js'

export interface HttpBridgeOptions {
  /** URL of the server, over plain HTTP. */
  readonly url: URL
  /** The server's public URL, when `url` is that of our own proxy. @default the same */
  readonly upstream?: URL
  /** Sent with every request. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Messages of the client. The end of its input ends the session. */
  readonly input: Readable
  readonly output: Writable
  /** A notice for the user, in one line. */
  onNotice(line: string): void
}

/** A bridge from a stdio client to an HTTP server. */
export interface HttpBridge {
  /** Resolves when the client has ended and its requests have responses. Never rejects. */
  readonly finished: Promise<void>
  /** Ends the session now. @param why reason in the errors for open requests */
  end(why?: string): void
}

/** Open requests. Above this limit, the client's next request waits. */
const mostRequests = 256
/** Time for the last responses after the client's end. */
const lastAnswersMs = 10_000
/** Time in which an HTTP+SSE server must name its endpoint. */
const legacyMs = 10_000

/** Connects a stdio client to an HTTP server. The text of messages stays unchanged. */
export function startHttpBridge(options: HttpBridgeOptions): HttpBridge {
  return new BridgeToHttp(options)
}

class BridgeToHttp implements HttpBridge {
  readonly finished: Promise<void>
  readonly #options: HttpBridgeOptions
  readonly #client: StdioServerLink
  readonly #requests = new OpenRequests()
  readonly #watch: Utf8Watch
  readonly #events: ClientEvents
  #server: HttpLink
  /** Whether the server uses HTTP+SSE. */
  #isLegacy = false
  #isOver = false
  #stop: () => void = () => undefined
  readonly #stopped = new Promise<void>((resolve) => (this.#stop = resolve))

  constructor(options: HttpBridgeOptions) {
    this.#options = options
    this.#client = new StdioServerLink(options.input, options.output)
    this.#watch = createUtf8Watch((line) => options.onNotice(line))
    this.#events = {
      message: (text, via, isLossy) => this.#hear(text, via, isLossy === true),
      failed: (frame, reason, failure) => void this.#failed(frame, reason, failure),
      ended: (reason) => this.#lost(reason),
    }
    // Clients do not wait after the handshake.
    this.#server = new StreamableHttpLink(options.url, { ...this.#linkOptions(), listenMs: 0 }, this.#events)
    options.output.once('error', () => this.end())
    options.output.once('close', () => this.end())
    this.finished = this.#run()
  }

  end(why = 'the session has ended'): void {
    if (this.#isOver) return
    this.#failAll(why)
    this.#isOver = true
    this.#stop()
    this.#client.close()
  }

  #linkOptions(): { headers: HttpBridgeOptions['headers']; upstream?: URL } {
    const { headers, upstream } = this.#options
    return { headers, ...(upstream && { upstream }) }
  }

  async #run(): Promise<void> {
    for await (const lines of this.#client.chunks()) {
      for (const { text, bytes } of lines) {
        if (this.#isOver) break
        // The order of messages is part of the protocol.
        await Promise.race([this.#takeLine(text, bytes), this.#stopped])
      }
      if (this.#isOver) break
    }
    await this.#lastAnswers()
    if (!this.#isOver) this.#failAll(`no response within ${lastAnswersMs / 1000} s of the end of the client`)
    this.#isOver = true
    await this.#server.close()
  }

  async #takeLine(text: string | undefined, bytes: Uint8Array): Promise<void> {
    const messages = text === undefined ? undefined : messagesIn(text)
    if (!messages) {
      const fault = text === undefined ? 'the line is longer than 64 MB' : 'the line is not JSON-RPC'
      return this.#say(failureText('null', -32_700, fault))
    }
    this.#watch(bytes)
    for (const message of messages) {
      if (this.#isOver) return
      await this.#send(message)
      while (this.#requests.count >= mostRequests && !this.#isOver)
        await Promise.race([this.#requests.settled(), this.#stopped])
    }
  }

  /** Resolves when the client's next message may be sent. */
  async #send(message: Message): Promise<void> {
    const { envelope } = message
    const cancelled = envelope.cancels === undefined ? undefined : this.#requests.find(envelope.cancels)
    if (cancelled) {
      // Its response may still arrive, but is no longer awaited.
      this.#requests.settle(cancelled.id)
      // Over HTTP, the modern era cancels by abandoning the response.
      if (cancelled.protocolVersion !== undefined) return this.#server.leave(cancelled)
    }
    const frame = frameOf(message)
    if (frame.id !== undefined) this.#requests.add(frame)
    await this.#server.send(frame)
    // Later messages need not wait for a response, except for the one that begins the session.
    while (envelope.method === 'initialize' && this.#requests.isOpen(frame) && !this.#isOver)
      await Promise.race([this.#requests.settled(), this.#stopped])
  }

  /** Handles a message of the server from any stream. */
  #hear(text: string, via: ClientFrame | undefined, isLossy: boolean): void {
    const messages = messagesIn(text) ?? []
    if (messages.length > 0 && isLossy) this.#watch('lossy')
    const asked = via && this.#requests.isOpen(via) ? via.id : undefined
    for (const { text: own, envelope } of messages) {
      if (envelope.kind === 'result' || envelope.kind === 'error') this.#requests.settle(envelope.id)
      const named = asked === undefined ? undefined : errorFor(asked, own)
      if (named !== undefined) this.#requests.settle(asked)
      this.#say(named ?? own)
    }
  }

  #say(text: string): void {
    if (this.#isOver || this.#client.isGone) return
    void this.#client.send(text)
    if (!this.#client.isFull) return
    this.#server.hold(true)
    void this.#client.drained().then(() => this.#server.hold(false))
  }

  async #failed(frame: ClientFrame, reason: string, failure: LinkFailure): Promise<void> {
    if (!this.#requests.isOpen(frame) || this.#isOver) return
    const { kind, status = 0, body = '', location } = failure
    switch (kind) {
      case 'refused': {
        const mayBeLegacy = frame.method === 'initialize' && [400, 404, 405].includes(status)
        if (mayBeLegacy && !this.#isLegacy && !isModernError(body) && (await this.#becomeLegacy()))
          return this.#server.send(frame)
        const said =
          location === undefined
            ? excerpt(body)
            : `redirected to ${placeOf(location)}; use that address with --url`
        return this.#fail(frame, status, `HTTP ${status} ${http.STATUS_CODES[status] ?? ''}: ${said}`)
      }
      case 'broken':
        return this.#fail(frame, 502, `the server did not respond: ${reason}`)
      case 'lost':
        return this.#fail(frame, 502, 'the event stream of the response broke and could not be resumed')
      case 'unanswered':
        return this.#fail(frame, 502, `the server's response (HTTP ${status}) had no result for this request`)
    }
  }

  /** False when the server does not support HTTP+SSE either. */
  async #becomeLegacy(): Promise<boolean> {
    const opening = createDeadline({ ms: legacyMs })
    const options = { ...this.#linkOptions(), opening: opening.signal }
    try {
      const link = await LegacySseLink.open(this.#options.url, options, this.#events)
      this.#isLegacy = true
      await this.#server.close()
      this.#server = link
      return true
    } catch {
      return false
    } finally {
      opening.close()
    }
  }

  /** Answers a request that will get no other response. */
  #fail(frame: ClientFrame, code: number, why: string): void {
    if (!this.#requests.isOpen(frame) || frame.id === undefined) return
    this.#requests.settle(frame.id)
    this.#say(failureText(frame.id, code, why))
  }

  #failAll(why: string): void {
    for (const frame of this.#requests.all()) this.#fail(frame, 502, why)
  }

  /** An HTTP+SSE session cannot be resumed; any other server gets new requests. */
  #lost(reason: string): void {
    if (this.#isOver || !this.#isLegacy) return
    const why = `the server ended its event stream: ${reason}`
    this.#options.onNotice(`${why}; the session has ended`)
    this.end(why)
  }

  async #lastAnswers(): Promise<void> {
    const deadline = createDeadline({ ms: lastAnswersMs })
    const isLate = new Promise<void>((resolve) => deadline.signal.addEventListener('abort', () => resolve()))
    while (this.#requests.count > 0 && !this.#isOver && !deadline.signal.aborted)
      await Promise.race([this.#requests.settled(), isLate, this.#stopped])
    deadline.close()
  }
}

/** Errors that only servers of the modern era send. */
function isModernError(body: string): boolean {
  const [message] = messagesIn(body) ?? []
  return /^-3202[0-2]$/.test(message?.envelope.errorCode ?? '')
}

/** Removes the query, which may contain a secret. */
function placeOf(location: string): string {
  return excerpt(location.replace(/[?#].*$/s, ''))
}

function excerpt(body: string): string {
  const line = body.replaceAll(/\s+/g, ' ').trim()
  return line.length > 300 ? `${line.slice(0, 300)}…` : line || 'the response has no details'
}
