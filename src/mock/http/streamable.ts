import type { Play } from '../play.js'
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Envelope } from '../../model/index.js'
import {
  accept,
  acceptsEvents,
  notAllowed,
  openEvents,
  PostLink,
  readPost,
  sendError,
  type PostFault,
} from '../../link/index.js'
import type { Stage } from '../stage.js'
import { Clients, type LiveClient } from './clients.js'
import type { HttpService } from './http-service.js'

/** Streamable HTTP: with sessions up to 2025-11-25, without from 2026-07-28, as in the recording. */
export class Streamable implements HttpService {
  readonly #stage: Stage
  readonly path: string
  readonly #play: Play
  readonly #clients: Clients
  readonly #methods: 'GET, POST, DELETE' | 'POST'

  constructor(stage: Stage, path: string) {
    this.#stage = stage
    this.path = path
    const { play } = stage
    this.#play = play
    this.#clients = new Clients(stage)
    this.#methods = this.#play.legacy ? 'GET, POST, DELETE' : 'POST'
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname === this.path && request.method === 'POST') return this.#post(request, response)
    request.resume()
    if (pathname !== this.path) return refuse(response, 404, -32000, 'Not found')
    if (!this.#play.legacy) return notAllowed(response, this.#methods)
    if (request.method === 'GET') return this.#get(request, response)
    if (request.method !== 'DELETE') return notAllowed(response, this.#methods)
    const session = headerOf(request, 'mcp-session-id')
    if (!this.#clients.end(session ?? '')) return refuseSession(response, session)
    response.writeHead(200)
    response.end()
  }

  close(): Promise<void> {
    return this.#clients.close()
  }

  /** The client of a message; undefined if unknown, in which case an error was already sent. */
  #clientOf(
    request: IncomingMessage,
    response: ServerResponse,
    raw: string,
    envelopes: readonly Envelope[],
  ): LiveClient | undefined {
    const session = headerOf(request, 'mcp-session-id')
    const modern = envelopes.some((envelope) => envelope.modern === true)
    if (modern) return this.#clients.without(request, raw, envelopes)
    if (session !== undefined) {
      const known = this.#clients.ofSession(session)
      if (!known) refuseSession(response, session)
      return known
    }
    if (envelopes.some(({ method }) => method === 'initialize')) {
      return this.#play.sessions === false
        ? this.#clients.without(request, raw, envelopes)
        : this.#clients.begin(randomUUID())
    }
    // A probe for the other era comes before the session begins.
    const probes = envelopes.some(({ method }) => method === 'server/discover')
    if (this.#play.sessions === false || !this.#play.opened || probes)
      return this.#clients.without(request, raw, envelopes)
    refuseSession(response, session)
    return undefined
  }

  async #post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const post = await readPost(request, {
      contentType: !this.#play.lenient.contentType,
      accept: this.#play.lenient.accept ? 'anything' : 'both',
      mirrored: this.#play.mirrored,
    })
    if ('kind' in post) return this.#refusePost(response, post)
    const { raw, messages } = post
    const envelopes = messages.map(({ envelope }) => envelope)
    const client = this.#clientOf(request, response, raw, envelopes)
    if (!client) return
    const requests = envelopes.filter(({ kind }) => kind === 'request')
    if (requests.length === 0) {
      client.conversation.take(raw)
      return accept(response)
    }
    const modern = requests.some((envelope) => envelope.modern === true)
    const begins = requests.some(({ method }) => method === 'initialize')
    const sink = new PostLink({
      response,
      requests: requests.length,
      modern: modern ? raw : undefined,
      ...(begins && client.session !== undefined && { headers: { 'Mcp-Session-Id': client.session } }),
    })
    // From 2026-07-28 on, leaving means cancelling; before that it only means a broken connection.
    response.once('close', () => {
      if (modern && !response.writableFinished)
        for (const { id } of requests) if (id !== undefined) client.conversation.leave(id)
    })
    client.conversation.take(raw, sink)
  }

  #refusePost(response: ServerResponse, { kind, status, code = -32000, why, id }: PostFault): void {
    if (kind === 'no-json') this.#stage.notice('a client sent a body that is not JSON')
    if (kind === 'header') this.#stage.notice(`a client sent a request that servers refuse: ${why}`)
    refuse(response, status, code, refusals[kind] ?? why, id)
  }

  #get(request: IncomingMessage, response: ServerResponse): void {
    const session = headerOf(request, 'mcp-session-id')
    const client = this.#clients.ofSession(session ?? '')
    if (!client) {
      if (this.#play.sessions === false || this.#play.noStream) return notAllowed(response, 'POST')
      return refuseSession(response, session)
    }
    if (this.#play.noStream) return notAllowed(response, 'POST, DELETE')
    if (!acceptsEvents(request.headers.accept)) {
      return refuse(response, 406, -32000, 'Not Acceptable: the response is a text/event-stream')
    }
    if (client.standalone.isOpen) return refuse(response, 409, -32000, 'Conflict: only one stream at a time')
    client.standalone.attach(openEvents(response))
  }
}

/** Worded like the official servers. */
const refusals: Readonly<Partial<Record<PostFault['kind'], string>>> = {
  'content-type': 'Unsupported Media Type: the body must be application/json',
  'too-long': 'The body is too long',
  'no-json': 'Parse error',
  invalid: 'Invalid Request',
  accept: 'Not Acceptable: the response may be application/json or text/event-stream',
}

/** The request names no session, or one that has ended. */
function refuseSession(response: ServerResponse, session: string | undefined): void {
  if (session !== undefined) refuse(response, 404, -32001, 'Session not found')
  else refuse(response, 400, -32000, 'Bad Request: Mcp-Session-Id header is required')
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

function refuse(response: ServerResponse, status: number, code: number, message: string, id?: string): void {
  sendError(response, status, { code, message }, id)
}
