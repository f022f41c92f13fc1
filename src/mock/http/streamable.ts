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
export function createStreamable(stage: Stage, path: string): HttpService {
  const { play } = stage
  const clients = new Clients(stage)
  const methods = play.legacy ? 'GET, POST, DELETE' : 'POST'

  /** The client of a message; undefined if unknown, in which case an error was already sent. */
  function clientOf(
    request: IncomingMessage,
    response: ServerResponse,
    raw: string,
    envelopes: readonly Envelope[],
  ): LiveClient | undefined {
    const session = headerOf(request, 'mcp-session-id')
    const modern = envelopes.some((envelope) => envelope.modern === true)
    if (modern) return clients.without(request, raw, envelopes)
    if (session !== undefined) {
      const known = clients.ofSession(session)
      if (!known) refuseSession(response, session)
      return known
    }
    if (envelopes.some(({ method }) => method === 'initialize')) {
      return play.sessions === false ? clients.without(request, raw, envelopes) : clients.begin(randomUUID())
    }
    // A probe for the other era comes before the session begins.
    const probes = envelopes.some(({ method }) => method === 'server/discover')
    if (play.sessions === false || !play.opened || probes) return clients.without(request, raw, envelopes)
    refuseSession(response, session)
    return undefined
  }

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const post = await readPost(request, {
      contentType: !play.lenient.contentType,
      accept: play.lenient.accept ? 'anything' : 'both',
      mirrored: play.mirrored,
    })
    if ('kind' in post) return refusePost(response, post)
    const { raw, messages } = post
    const envelopes = messages.map(({ envelope }) => envelope)
    const client = clientOf(request, response, raw, envelopes)
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

  function refusePost(response: ServerResponse, { kind, status, code = -32000, why, id }: PostFault): void {
    if (kind === 'no-json') stage.notice('a client sent a body that is not JSON')
    if (kind === 'header') stage.notice(`a client sent a request that servers refuse: ${why}`)
    refuse(response, status, code, refusals[kind] ?? why, id)
  }

  function get(request: IncomingMessage, response: ServerResponse): void {
    const session = headerOf(request, 'mcp-session-id')
    const client = clients.ofSession(session ?? '')
    if (!client) {
      if (play.sessions === false || play.noStream) return notAllowed(response, 'POST')
      return refuseSession(response, session)
    }
    if (play.noStream) return notAllowed(response, 'POST, DELETE')
    if (!acceptsEvents(request.headers.accept)) {
      return refuse(response, 406, -32000, 'Not Acceptable: the response is a text/event-stream')
    }
    if (client.standalone.isOpen) return refuse(response, 409, -32000, 'Conflict: only one stream at a time')
    client.standalone.attach(openEvents(response))
  }

  return {
    path,
    async handle(request, response) {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost')
      if (pathname === path && request.method === 'POST') return post(request, response)
      request.resume()
      if (pathname !== path) return refuse(response, 404, -32000, 'Not found')
      if (!play.legacy) return notAllowed(response, methods)
      if (request.method === 'GET') return get(request, response)
      if (request.method !== 'DELETE') return notAllowed(response, methods)
      const session = headerOf(request, 'mcp-session-id')
      if (!clients.end(session ?? '')) return refuseSession(response, session)
      response.writeHead(200)
      response.end()
    },
    close: () => clients.close(),
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
