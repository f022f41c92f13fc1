import { setMaxListeners } from 'node:events'
import type http from 'node:http'
import { createSseParser, longestMessage } from '../../wire/index.js'
import { failureWords } from '../../transports/index.js'
import type { ClientConnection, ClientEvents, ClientFrame } from '../link.js'
import type { HttpClientOptions } from './streamable-http.js'
import { createClientAgent, openResponse, readBody } from './http-request.js'

/**
 * A client of an HTTP+SSE server (2024-11-05): everything comes on one stream, which also says where to send.
 *
 * @throws Error when the stream does not open, or says no endpoint
 */
export async function connectSse(
  url: URL,
  options: HttpClientOptions,
  events: ClientEvents,
): Promise<ClientConnection> {
  const agent = createClientAgent(url)
  const aborting = new AbortController()
  const { signal } = aborting
  // Any number of requests may be open.
  setMaxListeners(0, signal)
  const own = (options.headers ?? []).map(([name, value]): [string, string] => [name, value])
  let reading: Promise<void> = Promise.resolve()

  async function close(): Promise<void> {
    aborting.abort()
    await reading
    agent.destroy()
  }

  async function open(): Promise<URL> {
    const headers: [string, string][] = [['Accept', 'text/event-stream'], ...own]
    const response = await openResponse({ url, method: 'GET', headers, agent, signal })
    if (response.status !== 200) {
      response.body.resume()
      throw new Error(`HTTP ${response.status}`)
    }
    return new Promise<URL>((resolve, reject) => {
      const ended = (reason: string): void => {
        reject(new Error(reason))
        if (!signal.aborted) events.ended(reason)
      }
      reading = read(response.body, (endpoint) => {
        // Sent elsewhere, messages and their secrets would be somebody else's.
        if (endpoint.origin === url.origin) resolve(endpoint)
        else ended('its endpoint is on another origin')
      }).then(
        () => ended('its event stream ended'),
        (error: unknown) => ended(failureWords(error)),
      )
    })
  }

  async function read(body: http.IncomingMessage, found: (endpoint: URL) => void): Promise<void> {
    const parser = createSseParser()
    for await (const chunk of body as AsyncIterable<Buffer>) {
      for (const { event = 'message', data } of parser.push(chunk)) {
        if (data === undefined || data === '') continue
        if (event === 'endpoint') found(new URL(data, url))
        else if (event === 'message') events.message(data, undefined)
      }
    }
  }

  async function post(endpoint: URL, frame: ClientFrame): Promise<void> {
    const headers: [string, string][] = [['Content-Type', 'application/json'], ...own]
    try {
      const response = await openResponse({
        url: endpoint,
        method: 'POST',
        headers,
        body: frame.text,
        agent,
        signal,
      })
      const text = await readBody(response.body, longestMessage)
      if (response.status >= 300)
        events.failed(frame, `HTTP ${response.status}: ${text.trim().slice(0, 120)}`)
    } catch (error) {
      if (!signal.aborted) events.failed(frame, failureWords(error))
    }
  }

  const giveUp = (): void => aborting.abort()
  options.opening?.addEventListener('abort', giveUp)
  try {
    if (options.opening?.aborted) giveUp()
    const endpoint = await open()
    return { send: (frame) => post(endpoint, frame), close }
  } catch (error) {
    await close()
    throw options.opening?.aborted ? new Error('it named no endpoint in time') : error
  } finally {
    options.opening?.removeEventListener('abort', giveUp)
  }
}
