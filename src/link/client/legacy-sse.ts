import { setMaxListeners } from 'node:events'
import type http from 'node:http'
import { failureWords } from '../../transports/index.js'
import { SseParser, messagesOrNone, type McpHeader } from '../../wire/index.js'
import type { ClientEvents, ClientFrame, HttpLink } from '../link.js'
import { Flow } from './flow.js'
import { createClientAgent, openResponse, readBody, type OpenResponse } from './http-request.js'
import type { HttpClientOptions } from './streamable-http.js'

/** A client of an HTTP+SSE server (2024-11-05): all messages share one stream, which names the endpoint. */
export class LegacySseLink implements HttpLink {
  readonly #url: URL
  readonly #options: HttpClientOptions
  readonly #events: ClientEvents
  readonly #agent: http.Agent
  readonly #aborting = new AbortController()
  readonly #flow = new Flow()
  #endpoint: URL | undefined
  /** The negotiated protocol version. */
  #version: string | undefined
  #reading: Promise<void> = Promise.resolve()

  private constructor(url: URL, options: HttpClientOptions, events: ClientEvents) {
    this.#url = url
    this.#options = options
    this.#events = events
    this.#agent = createClientAgent(url)
    // Any number of requests may be open.
    setMaxListeners(0, this.#aborting.signal)
  }

  /** @throws Error when the stream does not open, or names no endpoint */
  static async open(url: URL, options: HttpClientOptions, events: ClientEvents): Promise<LegacySseLink> {
    const link = new LegacySseLink(url, options, events)
    const { opening } = options
    const giveUp = (): void => link.#aborting.abort()
    opening?.addEventListener('abort', giveUp)
    try {
      if (opening?.aborted) giveUp()
      link.#endpoint = await link.#begin()
      return link
    } catch (error) {
      await link.close()
      throw opening?.aborted ? new Error('the server sent no endpoint event in time') : error
    } finally {
      opening?.removeEventListener('abort', giveUp)
    }
  }

  async send(frame: ClientFrame): Promise<void> {
    try {
      const response = await this.#exchange('POST', this.#endpoint!, 'application/json', frame)
      const { text, isLossy } = await readBody(response.body, this.#flow)
      const { status } = response
      if (status >= 300) {
        const reason = `HTTP ${status}: ${text.trim().slice(0, 120)}`
        this.#events.failed(frame, reason, { kind: 'refused', status, body: text })
      } else if (saysMessage(text)) this.#events.message(text, frame, isLossy)
    } catch (error) {
      if (!this.#aborting.signal.aborted) this.#events.failed(frame, failureWords(error), { kind: 'broken' })
    }
  }

  hold(wait: boolean): void {
    this.#flow.hold(wait)
  }

  /** No effect: all responses share one stream, so none can be abandoned. */
  leave(): void {}

  async close(): Promise<void> {
    this.#aborting.abort()
    this.#flow.hold(false)
    await this.#reading
    this.#agent.destroy()
  }

  #exchange(method: 'GET' | 'POST', url: URL, type: string, frame?: ClientFrame): Promise<OpenResponse> {
    const own = (this.#options.headers ?? []).map(([name, value]): [string, string] => [name, value])
    const version: McpHeader[] = this.#version === undefined ? [] : [['MCP-Protocol-Version', this.#version]]
    return openResponse({
      url,
      upstream: this.#options.upstream,
      method,
      headers: [[frame ? 'Content-Type' : 'Accept', type], ...version, ...own],
      ...(frame && { body: frame.text }),
      agent: this.#agent,
      signals: [this.#aborting.signal],
    })
  }

  async #begin(): Promise<URL> {
    const { status, body } = await this.#exchange('GET', this.#url, 'text/event-stream')
    if (status !== 200) {
      body.resume()
      throw new Error(`HTTP ${status}`)
    }
    return new Promise<URL>((resolve, reject) => {
      const ended = (reason: string): void => {
        reject(new Error(reason))
        if (!this.#aborting.signal.aborted) this.#events.ended(reason)
      }
      this.#reading = this.#read(body, (endpoint) => {
        // Messages and their secrets must not be sent to another origin.
        if (endpoint.origin === this.#url.origin) resolve(endpoint)
        else ended('the server named an endpoint on another origin')
      }).then(
        () => ended('the event stream ended'),
        (error: unknown) => ended(failureWords(error)),
      )
    })
  }

  async #read(body: http.IncomingMessage, found: (endpoint: URL) => void): Promise<void> {
    const parser = new SseParser()
    for await (const chunk of body as AsyncIterable<Buffer>) {
      await this.#flow.opened()
      for (const { event, data, lossy = false } of parser.push(chunk)) {
        if (data === undefined || data === '') continue
        if (event === 'endpoint') found(new URL(data, this.#url))
        else if ((event || 'message') === 'message') this.#hear(data, lossy)
      }
    }
  }

  #hear(text: string, isLossy: boolean): void {
    // Only the initialize result contains a version.
    if (this.#version === undefined && text.includes('"protocolVersion"'))
      this.#version = messagesOrNone(text).find(
        ({ envelope }) => envelope.kind === 'result',
      )?.envelope.protocolVersion
    this.#events.message(text, undefined, isLossy)
  }
}

/** Servers respond with `Accepted` or similar text; some send the JSON-RPC response. */
function saysMessage(text: string): boolean {
  const messages = messagesOrNone(text)
  return messages.length > 0 && messages.every(({ envelope }) => envelope.kind !== 'invalid')
}
