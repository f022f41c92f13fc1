import { setMaxListeners } from 'node:events'
import type http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  JsonObject,
  createSseParser,
  findJsonValue,
  isFault,
  kindAt,
  longestMessage,
  reconnectDelayMs,
  standardHeaders,
} from '../../wire/index.js'
import { createDeadline, failureWords } from '../../transports/index.js'
import type { ClientConnection, ClientEvents, ClientFrame } from '../link.js'
import { createClientAgent, openResponse, readBody, type OpenResponse } from './http-request.js'

export interface HttpClientOptions {
  /** Sent with every request. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  /** Gives up a connection that is not open yet. */
  readonly opening?: AbortSignal
}

const listenHeadMs = 2_000
const closeMs = 2_000
/** Connections that fail, one after the other. */
const mostFailures = 20

type Headers = [string, string][]

/**
 * A client of a Streamable HTTP server, of either era. Sessions, protocol version, event streams and their
 * resumption are seen to; nothing is sent before the first frame.
 */
export function connectHttp(url: URL, options: HttpClientOptions, events: ClientEvents): ClientConnection {
  const agent = createClientAgent(url)
  const aborting = new AbortController()
  const { signal } = aborting
  // Any number of requests may be open.
  setMaxListeners(0, signal)
  let sessionId: string | undefined
  let protocolVersion: string | undefined
  let closed: Promise<void> | undefined
  const reading = new Set<Promise<void>>()
  /** The server has answered something. */
  let reached = false
  /** It has a stream open on which it may speak unasked. */
  let isListening = false

  function headersFor(accept: string, frame?: ClientFrame): Headers {
    const headers: Headers = [['Accept', accept]]
    if (frame) headers.push(['Content-Type', 'application/json'])
    if (sessionId !== undefined) headers.push(['Mcp-Session-Id', sessionId])
    const mirrored = frame ? standardHeaders({ ...frame, subject: frame.name }) : []
    if (mirrored.length === 0 && protocolVersion !== undefined)
      headers.push(['MCP-Protocol-Version', protocolVersion])
    return [...headers, ...mirrored, ...(frame?.headers ?? []), ...(options.headers ?? [])].map(([n, v]) => [
      n,
      v,
    ])
  }

  async function send(frame: ClientFrame): Promise<void> {
    let response: OpenResponse
    const head = openResponse({
      url,
      method: 'POST',
      headers: headersFor('application/json, text/event-stream', frame),
      body: frame.text,
      agent,
      signal,
    })
    // An answer may take its time; whoever sent the request waits for the answer and not for us.
    if (frame.requests > 0) {
      track(
        head.then(
          (open) => receive(open, frame),
          (error: unknown) => fail(frame, error),
        ),
      )
      return
    }
    try {
      response = await head
    } catch (error) {
      return fail(frame, error)
    }
    await receive(response, frame)
    if (frame.method === 'notifications/initialized') await listen()
  }

  function fail(frame: ClientFrame, error: unknown): void {
    if (signal.aborted) return
    const words = failureWords(error)
    // Nobody listens any more where somebody did: what else is sent would only wait.
    const isGone = reached && isRefused(error)
    events.failed(frame, words, isGone)
    if (isGone) events.ended(goneFor(error))
  }

  function track(work: Promise<void>): void {
    const settled = work.finally(() => reading.delete(settled))
    reading.add(settled)
  }

  async function receive(response: OpenResponse, frame: ClientFrame): Promise<void> {
    const { status, headers, body } = response
    reached = true
    try {
      if (frame.method === 'initialize' && typeof headers['mcp-session-id'] === 'string')
        sessionId = headers['mcp-session-id']
      const type = headers['content-type'] ?? ''
      if (/^text\/event-stream\b/i.test(type)) return await followStream(body, frame)
      const text = await readBody(body, longestMessage)
      if (status >= 200 && status < 300) {
        // Some servers accept a request and answer it on the other stream, which official clients take.
        const comesLater = status === 202 && isListening
        if (text.trim() !== '') take(text, frame)
        else if (frame.requests > 0 && !comesLater) events.failed(frame, `HTTP ${status} without an answer`)
      } else if (frame.requests > 0 && isMessage(text)) events.message(text, frame)
      else events.failed(frame, refusal(status, headers, text))
    } catch (error) {
      fail(frame, error)
    }
  }

  function take(text: string, frame: ClientFrame): void {
    if (frame.method === 'initialize') protocolVersion = negotiated(text) ?? protocolVersion
    events.message(text, frame)
  }

  /**
   * Reads an event stream to its end, and goes on where it was cut off: by its last event id, as often as the server
   * cuts it. One that belongs to no request is opened again in any case.
   */
  async function followStream(first: http.IncomingMessage, frame: ClientFrame | undefined): Promise<void> {
    let body: http.IncomingMessage | undefined = first
    let lastId: string | undefined
    let waitMs = reconnectDelayMs()
    let answers = 0
    while (body) {
      const parser = createSseParser()
      try {
        for await (const chunk of body as AsyncIterable<Buffer>) {
          for (const event of parser.push(chunk)) {
            if (event.id !== undefined) lastId = event.id
            if (event.retry !== undefined) waitMs = reconnectDelayMs(event.retry)
            const { data } = event
            if (data === undefined || data === '' || (event.event ?? 'message') !== 'message') continue
            if (isAnswerText(data)) answers += 1
            if (frame) take(data, frame)
            else events.message(data, undefined)
          }
        }
      } catch (error) {
        if (lastId === undefined && frame) return fail(frame, error)
      }
      const isDone = frame ? answers >= frame.requests : false
      if (signal.aborted || isDone) return
      if (lastId === undefined && frame) break
      body = await resume(lastId, waitMs)
    }
    if (signal.aborted) return
    if (frame && answers < frame.requests) events.failed(frame, 'its event stream ended without an answer')
  }

  /** Undefined when the server will not, or is gone. */
  async function resume(
    lastId: string | undefined,
    waitMs: number,
  ): Promise<http.IncomingMessage | undefined> {
    for (let failures = 0; failures < mostFailures; failures += 1) {
      await pause(waitMs, signal)
      if (signal.aborted) return undefined
      const headers = headersFor('text/event-stream')
      if (lastId !== undefined) headers.push(['Last-Event-ID', lastId])
      try {
        const response = await openResponse({ url, method: 'GET', headers, agent, signal })
        if (isStream(response)) return response.body
        response.body.resume()
        return undefined
      } catch (error) {
        if (!isRefused(error)) continue
        if (!signal.aborted) events.ended(goneFor(error))
        return undefined
      }
    }
    return undefined
  }

  /** The stream on which a server of the legacy era speaks unasked; 405 where it has none. */
  async function listen(): Promise<void> {
    const opening = openResponse({
      url,
      method: 'GET',
      headers: headersFor('text/event-stream'),
      agent,
      signal,
    })
      .then((response) => {
        if (!isStream(response)) return void response.body.resume()
        isListening = true
        track(followStream(response.body, undefined).finally(() => (isListening = false)))
      })
      .catch(() => undefined)
    await Promise.race([opening, pause(listenHeadMs, signal)])
  }

  async function end(): Promise<void> {
    if (sessionId !== undefined) {
      const patience = createDeadline({ ms: closeMs })
      const headers = headersFor('application/json')
      await openResponse({ url, method: 'DELETE', headers, agent, signal: patience.signal })
        .then(({ body }) => body.resume())
        .catch(() => undefined)
      patience.close()
    }
    aborting.abort()
    await Promise.allSettled(reading)
    agent.destroy()
  }

  return { send, close: () => (closed ??= end()) }
}

function isStream({ status, headers }: OpenResponse): boolean {
  return status === 200 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
}

/** A JSON-RPC message, as far as its outermost shape tells. */
function isMessage(text: string): boolean {
  const found = findJsonValue(text)
  return (
    !isFault(found) &&
    kindAt(text, found.start) === 'object' &&
    new JsonObject(text, found.start).has('jsonrpc')
  )
}

function isAnswerText(text: string): boolean {
  const found = findJsonValue(text)
  if (isFault(found) || kindAt(text, found.start) !== 'object') return false
  const message = new JsonObject(text, found.start)
  return message.has('result') || message.has('error')
}

function negotiated(text: string): string | undefined {
  const found = findJsonValue(text)
  if (isFault(found) || kindAt(text, found.start) !== 'object') return undefined
  return new JsonObject(text, found.start).object('result')?.string('protocolVersion')
}

const longestReason = 120

function refusal(status: number, headers: http.IncomingHttpHeaders, text: string): string {
  // How a page begins says nothing.
  const isPage = /^\s*<(?:!doctype|html)\b/i.test(text)
  const line = isPage ? '' : text.trim().split('\n', 1)[0]!.slice(0, longestReason)
  if (status === 401) return `HTTP 401: the server asks for authorization`
  if (status >= 300 && status < 400) return `HTTP ${status}: it points to ${headers.location ?? 'nowhere'}`
  return `HTTP ${status}${line === '' ? '' : `: ${line}`}`
}

function goneFor(error: unknown): string {
  return `the server is gone: ${failureWords(error)}`
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}

/** Ends early when the signal does. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => undefined)
}
