import http, { type IncomingMessage } from 'node:http'
import { createSseParser, type SseEvent, longestMessage } from '../../wire/index.js'

/** As many as anybody needs who does not go round in circles. */
const mostRedirects = 5

export interface CallRequest {
  readonly url: URL
  readonly agent: http.Agent
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: string
  /** What servers call the origin of `url`, which may be that of a proxy of ours. @default the same */
  readonly upstream?: URL
}

export interface CallHandlers {
  /** The answer begins. */
  onHead(status: number, headers: http.IncomingHttpHeaders): void
  /** One of an event stream. */
  onEvent(event: SseEvent): void
  /**
   * It is over, with the whole body of what was no event stream.
   *
   * @param broken why it ended before its time; empty when we ended it
   */
  onEnd(body: Buffer, broken: string | undefined): void
}

/** An exchange with an HTTP server. */
export interface Call {
  abort(): void
  /** Stops reading, or goes on. */
  hold(wait: boolean): void
}

export function startCall(request: CallRequest, handlers: CallHandlers): Call {
  const { agent, method, headers, body } = request
  let over = false
  let held = false
  let answer: IncomingMessage | undefined
  const chunks: Buffer[] = []
  let sizeBytes = 0

  function end(broken?: string): void {
    if (over) return
    over = true
    handlers.onEnd(Buffer.concat(chunks), broken)
  }

  const bytes = body === undefined ? undefined : Buffer.from(body)
  let outgoing = send(request.url, mostRedirects)

  function send(url: URL, redirects: number): http.ClientRequest {
    const sent = http.request({
      host: url.hostname,
      port: url.port,
      path: url.pathname + url.search,
      method,
      agent,
      headers: [
        'Host',
        url.host,
        ...headers.flat(),
        ...(bytes ? ['Content-Length', String(bytes.length)] : []),
      ],
    })
    sent.on('error', (error) => {
      if (sent === outgoing) end(error.message)
    })
    sent.on('response', (came) => {
      const next = redirects > 0 ? redirectOf(came, method, url, request.upstream ?? url) : undefined
      if (!next || over) return take(came)
      came.on('error', () => undefined).resume()
      outgoing = send(next, redirects - 1)
    })
    sent.end(bytes)
    return sent
  }

  function take(came: IncomingMessage): void {
    answer = came
    if (held) came.pause()
    const isStream = /^text\/event-stream\b/i.test(came.headers['content-type'] ?? '')
    handlers.onHead(came.statusCode ?? 0, came.headers)
    const events = isStream ? createSseParser() : undefined
    came.on('data', (chunk: Buffer) => {
      if (over) return
      if (events) {
        for (const event of events.push(chunk)) if (!over) handlers.onEvent(event)
        return
      }
      sizeBytes += chunk.length
      if (sizeBytes <= longestMessage) chunks.push(chunk)
      else {
        end('its answer is longer than 64 MB')
        outgoing.destroy()
      }
    })
    came.on('end', () => end())
    came.on('error', (error) => end(error.message))
  }

  const call: Call = {
    abort() {
      end('')
      outgoing.destroy()
    },
    hold(wait) {
      held = wait
      if (wait) answer?.pause()
      else answer?.resume()
    },
  }
  return call
}

/** Where the same request is to be sent again. Headers are for their own server only: undefined for any other. */
function redirectOf(came: IncomingMessage, method: string, url: URL, upstream: URL): URL | undefined {
  const { statusCode = 0, headers } = came
  const isFollowed = [307, 308].includes(statusCode) || (method === 'GET' && [301, 302].includes(statusCode))
  const base = upstream.origin + url.pathname + url.search
  if (!isFollowed || headers.location === undefined || !URL.canParse(headers.location, base)) return undefined
  const target = new URL(headers.location, base)
  return target.origin === upstream.origin ? new URL(target.pathname + target.search, url.origin) : undefined
}
