import http from 'node:http'
import type { Readable, Writable } from 'node:stream'
import { idKey, failureText, messagesIn, type Message } from '../../wire/index.js'
import { readClientMessages } from '../server/client-messages.js'
import { startCall, type Call } from './http-call.js'
import { createHttpIdentity } from './http-identity.js'
import { openLegacyStream, type LegacyStream } from './legacy-stream.js'
import { createMirroredHeaders } from '../mirrored-headers.js'
import { isModernError } from '../server/modern-request.js'
import { errorFor } from './nameless-error.js'
import { createOpenRequests, type OpenRequest } from './open-requests.js'
import { createStandaloneStream } from './standalone-stream.js'
import { createUtf8Watch } from '../utf8-watch.js'

export interface HttpBridgeOptions {
  /** Of the server, plain HTTP. */
  readonly url: URL
  /** The server as others know it, where `url` is that of a proxy of ours. @default the same */
  readonly upstream?: URL
  /** Sent with every request. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Of the client. Its end is the end of the session. */
  readonly input: Readable
  readonly output: Writable
  /** Something the user should know, in one line. */
  onNotice(line: string): void
}

/** A client that speaks stdio, and a server that speaks HTTP. */
export interface HttpBridge {
  /** Resolves when the client has ended, and what it asked for is answered. Never rejects. */
  readonly finished: Promise<void>
  /** Ends the session now. @param why for those who wait for answers */
  end(why?: string): void
}

/** Requests that wait for answers; the client's next one waits above that. */
const mostRequests = 256
/** After the client's end, for requests that still have no answer. */
const lastAnswersMs = 10_000
/** For the server to hear that a session ends. */
const goodbyeMs = 1_000
const accept = ['Accept', 'application/json, text/event-stream'] as const

/** Carries messages between the two. Their text stays as it is. */
export function startHttpBridge(options: HttpBridgeOptions): HttpBridge {
  const { input, output, upstream = options.url } = options
  const agent = new http.Agent({ keepAlive: true, noDelay: true })
  const mirrored = createMirroredHeaders()
  const requests = createOpenRequests()
  const identity = createHttpIdentity(options.headers)
  const calls = new Set<Call>()
  const watch = createUtf8Watch((line) => options.onNotice(line))
  let legacy: LegacyStream | undefined
  let standalone = false
  let over = false
  let stop: () => void = () => undefined
  const stopped = new Promise<void>((resolve) => (stop = resolve))

  function say(text: string): void {
    if (over || output.destroyed || output.write(`${text}\n`)) return
    for (const call of calls) call.hold(true)
  }
  output.on('drain', () => {
    for (const call of calls) call.hold(false)
  })
  output.on('error', () => finish())
  output.on('close', () => finish())

  /** What a server says, on whatever stream. False when that is no message. */
  function take(text: string): boolean {
    const messages = messagesIn(text) ?? []
    for (const message of messages) {
      const { envelope } = message
      if (envelope.kind === 'result' || envelope.kind === 'error') requests.settle(envelope.id)
      // Only the answer to initialize says one by itself.
      if (envelope.kind === 'result' && !envelope.modern)
        identity.version = envelope.protocolVersion ?? identity.version
      mirrored.learn(message)
      say(message.text)
    }
    return messages.length > 0
  }

  /** A request that nobody else will answer. */
  function fail(one: OpenRequest, code: number, why: string): void {
    if (!requests.isOpen(one)) return
    requests.settle(one.id)
    say(failureText(one.id, code, why))
  }

  const begin: typeof startCall = (request, handlers) => {
    const call = startCall(
      { ...request, upstream },
      {
        ...handlers,
        onEnd(body, broken) {
          calls.delete(call)
          handlers.onEnd(body, broken)
        },
      },
    )
    calls.add(call)
    if (output.writableNeedDrain) call.hold(true)
    return call
  }

  /** Resolves when the client's next message may be sent. */
  function send(message: Message): Promise<void> {
    const { envelope } = message
    if (envelope.cancels !== undefined) {
      const cancelled = requests.find(envelope.cancels)
      // Its answer may come all the same, but nobody waits for it.
      requests.settle(cancelled?.id)
      // Over HTTP the modern era cancels by leaving.
      if (cancelled?.modern) {
        cancelled.call?.abort()
        return Promise.resolve()
      }
    }
    const { kind, id } = envelope
    const one: OpenRequest | undefined =
      kind === 'request' && id !== undefined ? { id, modern: envelope.modern === true } : undefined
    if (one) requests.add(one)
    return legacy ? post(message, one, legacy.postUrl) : post(message, one, options.url)
  }

  function post(message: Message, one: OpenRequest | undefined, url: URL): Promise<void> {
    const { envelope, text } = message
    const isInitialize = envelope.method === 'initialize'
    const headers = one?.modern ? [...identity.headers(), ...mirrored.of(message)] : identity.versioned()
    return new Promise((resolve) => {
      let status = 0
      let lastId: string | undefined
      let retryMs: number | undefined
      let location: string | undefined
      const call = begin(
        {
          url,
          agent,
          method: 'POST',
          headers: [...headers, ['Content-Type', 'application/json'], accept],
          body: text,
        },
        {
          onHead(code, came) {
            status = code
            location = came.location
            if (isInitialize && code < 300) identity.session = [came['mcp-session-id']].flat()[0]
            if (!one) resolve()
          },
          onEvent(event) {
            lastId = event.id ?? lastId
            retryMs = event.retry ?? retryMs
            if (event.data !== undefined && (!event.event || event.event === 'message')) take(event.data)
            if (isInitialize && !requests.isOpen(one!)) resolve()
          },
          onEnd(bytes, broken) {
            const body = bytes.toString('utf8')
            if (status < 300 && take(body)) watch(bytes)
            if (one)
              void conclude(message, one, { status, body, broken, lastId, retryMs, location }).then(resolve)
            else resolve()
            if (envelope.method === 'notifications/initialized' && status < 300 && broken === undefined)
              listen()
          },
        },
      )
      if (one) one.call = call
      // Others need not wait for the answer of a request, but those of a session that is not there yet.
      if (one && !isInitialize) resolve()
    })
  }

  interface Outcome {
    readonly status: number
    readonly body: string
    readonly broken: string | undefined
    readonly lastId: string | undefined
    readonly retryMs: number | undefined
    readonly location: string | undefined
  }

  /** The POST of a request is over. */
  async function conclude(message: Message, one: OpenRequest, outcome: Outcome): Promise<void> {
    const { status, body, broken, lastId, retryMs, location } = outcome
    if (!requests.isOpen(one) || over) return
    const isInitialize = message.envelope.method === 'initialize'
    if (status >= 300) {
      if (isInitialize && !legacy && [400, 404, 405].includes(status) && !isModernError(body)) {
        legacy = await openLegacyStream({
          url: options.url,
          agent,
          headers: identity.headers(),
          onMessage: take,
          onEnd: lostServer,
          begin,
        })
        if (legacy) return post(message, one, legacy.postUrl)
      }
      return refuse(one, status, body, location)
    }
    // Its answer comes on the stream.
    if (legacy && broken === undefined) return
    if (lastId !== undefined && !one.modern) {
      createStandaloneStream({
        url: options.url,
        agent,
        headers: () => identity.versioned(),
        onMessage: take,
        begin,
        resume: { lastId, ...(retryMs !== undefined && { retryMs }) },
        isWanted: () => requests.isOpen(one) && !over,
        onGivenUp: () => fail(one, 502, 'the stream of the answer broke, and could not be taken up again'),
      })
      return
    }
    if (status === 0 || broken !== undefined) {
      const why = broken === '' || broken === undefined ? 'the request was ended' : broken
      return fail(one, 502, `the server gave no answer: ${why}`)
    }
    fail(one, 502, `the server's answer (HTTP ${status}) had no result of this request`)
  }

  function refuse(one: OpenRequest, status: number, body: string, location: string | undefined): void {
    const messages = messagesIn(body)
    if (messages?.some(({ envelope }) => envelope.id !== undefined && idKey(envelope.id) === idKey(one.id)))
      return void take(body)
    const error = errorFor(one.id, body)
    if (error === undefined) {
      const said =
        location === undefined ? excerpt(body) : `it leads to ${placeOf(location)}; give that to --url`
      return fail(one, status, `HTTP ${status} ${http.STATUS_CODES[status] ?? ''}: ${said}`)
    }
    requests.settle(one.id)
    say(error)
  }

  /** A session of the legacy era has a stream for what the server says by itself, if the server has one. */
  function listen(): void {
    if (legacy || standalone || over) return
    standalone = true
    createStandaloneStream({
      url: options.url,
      agent,
      headers: () => identity.versioned(),
      onMessage: take,
      begin,
      isWanted: () => !over,
      onGivenUp: () => undefined,
    })
  }

  async function readAll(): Promise<void> {
    for await (const message of readClientMessages(input, watch)) {
      if (over) return
      if ('fault' in message) say(failureText('null', -32_700, message.fault))
      // Their order is part of the protocol.
      else await Promise.race([send(message), stopped])
      while (requests.count >= mostRequests && !over) await Promise.race([requests.settled(), stopped])
    }
  }

  /** HTTP+SSE has nothing to take up again. */
  function lostServer(broken: string | undefined): void {
    if (over) return
    const why = `the server ended its event stream${broken ? `: ${broken}` : ''}`
    options.onNotice(`${why}; the session is over`)
    finish(why)
  }

  function failAll(why: string): void {
    for (const one of requests.all()) fail(one, 502, why)
  }

  function finish(why = 'the session was ended'): void {
    if (over) return
    failAll(why)
    over = true
    stop()
    for (const call of calls) call.abort()
    input.destroy()
  }

  async function lastAnswers(): Promise<void> {
    const deadline = timer(lastAnswersMs)
    while (requests.count > 0 && !over) {
      const timedOut = await Promise.race([
        requests.settled().then(() => false),
        deadline.over.then(() => true),
        stopped,
      ])
      if (timedOut === true) break
    }
    deadline.clear()
  }

  async function sayGoodbye(): Promise<void> {
    if (identity.session === undefined || legacy) return
    const deadline = timer(goodbyeMs)
    const call = { ended: (): void => undefined }
    const ended = new Promise<void>((resolve) => (call.ended = resolve))
    startCall(
      { url: options.url, upstream, agent, method: 'DELETE', headers: identity.versioned() },
      { onHead: () => undefined, onEvent: () => undefined, onEnd: () => call.ended() },
    )
    await Promise.race([ended, deadline.over])
    deadline.clear()
  }

  const finished = readAll()
    .catch(() => undefined)
    .then(lastAnswers)
    .then(() => {
      if (!over) failAll(`no answer came within ${lastAnswersMs / 1000} s of the end of the client`)
      over = true
      for (const call of calls) call.abort()
      return sayGoodbye()
    })
    .then(() => agent.destroy())
  return { finished, end: finish }
}

/** A query may be a secret. */
function placeOf(location: string): string {
  return excerpt(location.replace(/[?#].*$/s, ''))
}

function excerpt(body: string): string {
  const line = body.replaceAll(/\s+/g, ' ').trim()
  return line.length > 300 ? `${line.slice(0, 300)}…` : line || 'no more is said'
}

function timer(ms: number): { readonly over: Promise<void>; clear(): void } {
  let handle: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => (handle = setTimeout(resolve, ms)))
  return { over, clear: () => clearTimeout(handle) }
}
