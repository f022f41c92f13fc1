import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerLink } from '../link.js'
import { readBody } from './read-post.js'
import { accept, notAllowed, sendError } from './refuse.js'
import { openEvents } from './sse-response.js'
import { StandaloneStream } from './standalone-stream.js'

/** A server's handlers for one client. */
export interface ServedClient {
  start(): void
  /** False when the text is not JSON. */
  take(text: string): boolean
  close(): Promise<void>
}

export interface LegacySseOptions {
  /** Path of the event stream. */
  readonly path: string
  /** A client has connected. */
  open(client: ServerLink): ServedClient
  /** A client sent a body that is not JSON. */
  onNoJson(): void
}

const messagePath = '/message'

/** The server's end of HTTP+SSE (2024-11-05): one stream carries all messages, POSTs are only accepted. */
export class LegacySseServer {
  readonly path: string
  readonly #options: LegacySseOptions
  readonly #clients = new Map<string, { readonly client: ServedClient; close(): void }>()

  constructor(options: LegacySseOptions) {
    this.#options = options
    this.path = options.path
  }

  /** @param prefix first part of the path by which the client reaches us */
  handle(request: IncomingMessage, response: ServerResponse, prefix: string): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (url.pathname === messagePath && request.method === 'POST')
      return this.#post(request, response, url.searchParams.get('sessionId'))
    request.resume()
    if (url.pathname !== this.path) sendError(response, 404, { code: -32000, message: 'Not found' })
    else if (request.method === 'GET') this.#open(response, prefix)
    else notAllowed(response, 'GET')
    return Promise.resolve()
  }

  async close(): Promise<void> {
    for (const known of this.#clients.values()) known.close()
    return Promise.resolve()
  }

  #open(response: ServerResponse, prefix: string): void {
    const id = randomUUID()
    const stream = new StandaloneStream()
    const client = this.#options.open(stream)
    const events = openEvents(response)
    void events.event('endpoint', `${prefix}${messagePath}?sessionId=${id}`)
    stream.attach(events)
    const close = (): void => {
      this.#clients.delete(id)
      stream.close()
      void client.close()
    }
    this.#clients.set(id, { client, close })
    response.once('close', close)
    client.start()
  }

  async #post(request: IncomingMessage, response: ServerResponse, id: string | null): Promise<void> {
    const known = this.#clients.get(id ?? '')
    if (!known) return sendError(response, 404, { code: -32001, message: 'Session not found' })
    const body = await readBody(request)
    if (!body) return sendError(response, 413, { code: -32000, message: 'The body is too long' })
    if (!known.client.take(new TextDecoder().decode(body))) {
      this.#options.onNoJson()
      return sendError(response, 400, { code: -32700, message: 'Parse error' })
    }
    accept(response, 'Accepted')
  }
}
