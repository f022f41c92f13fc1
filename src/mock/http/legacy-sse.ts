import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { openEvents, readBody } from '../../link/index.js'
import type { Conversation } from '../conversation.js'
import type { Stage } from '../stage.js'
import { accept, notAllowed, refuse } from './answers.js'
import type { HttpService } from './http-service.js'
import { createStandaloneSink } from './standalone-sink.js'

/** HTTP+SSE of 2024-11-05: one stream brings everything, POSTs are only accepted. */
export function createLegacySse(stage: Stage, path: string): HttpService {
  const conversations = new Map<string, { conversation: Conversation; close(): void }>()
  const messagePath = '/message'

  function open(response: ServerResponse, prefix: string): void {
    const id = randomUUID()
    const sink = createStandaloneSink()
    const conversation = stage.open(sink, 'sse')
    const stream = openEvents(response)
    void stream.event('endpoint', `${prefix}${messagePath}?sessionId=${id}`)
    sink.attach(stream)
    const close = (): void => {
      conversations.delete(id)
      sink.close()
      void conversation.close()
    }
    conversations.set(id, { conversation, close })
    response.once('close', close)
    conversation.start()
  }

  async function post(request: IncomingMessage, response: ServerResponse, id: string | null): Promise<void> {
    const known = conversations.get(id ?? '')
    if (!known) return refuse(response, 404, -32001, 'Session not found')
    const body = await readBody(request)
    if (!body) return refuse(response, 413, -32000, 'The body is too long')
    if (!known.conversation.take(new TextDecoder().decode(body))) {
      stage.notice('a client sent a body that is not JSON')
      return refuse(response, 400, -32700, 'Parse error')
    }
    accept(response, 'Accepted')
  }

  return {
    path,
    handle(request, response, prefix) {
      const url = new URL(request.url ?? '/', 'http://localhost')
      if (url.pathname === messagePath && request.method === 'POST') {
        return post(request, response, url.searchParams.get('sessionId'))
      }
      request.resume()
      if (url.pathname !== path) refuse(response, 404, -32000, 'Not found')
      else if (request.method === 'GET') open(response, prefix)
      else notAllowed(response, 'GET')
      return Promise.resolve()
    },
    async close() {
      for (const known of conversations.values()) known.close()
      return Promise.resolve()
    },
  }
}
