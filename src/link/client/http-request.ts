import { isUtf8 } from 'node:buffer'
import http from 'node:http'
import https from 'node:https'
import { longestMessage } from '../../wire/index.js'
import type { Flow } from './flow.js'

/** One request and the head of its response. */
export interface OpenResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: http.IncomingHttpHeaders
  readonly body: http.IncomingMessage
}

export interface HttpRequest {
  readonly url: URL
  /** What the server calls the origin of `url`, which may be that of a proxy of ours. @default the same */
  readonly upstream?: URL | undefined
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: string
  readonly agent: http.Agent
  /** Each of them ends the exchange. */
  readonly signals: readonly AbortSignal[]
}

/** As many as anybody needs who does not go round in circles. */
const mostRedirects = 5

/**
 * Sends a request and waits for the head of its response. Redirects on the server's own origin are followed where the
 * same request may be sent again. Whoever calls reads the body, or destroys it.
 *
 * @throws what Node says about connections that fail
 */
export async function openResponse(request: HttpRequest): Promise<OpenResponse> {
  let { url } = request
  for (let left = mostRedirects; ; left -= 1) {
    const response = await openOnce({ ...request, url })
    const next =
      left > 0 ? redirectOf(response, request.method, url, request.upstream ?? request.url) : undefined
    if (!next) return response
    response.body.on('error', () => undefined).resume()
    url = next
  }
}

function openOnce({ url, method, headers, body, agent, signals }: HttpRequest): Promise<OpenResponse> {
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method,
    agent,
    // Node adds none to headers that are given in a list.
    headers: [
      'Host',
      url.host,
      ...headers.flat(),
      ...(body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]),
    ],
  })
  // Streams stay open for as long as they like.
  request.setTimeout(0)
  // Not by Node's own option: its error reaches the socket also between two requests, when nobody listens to that.
  const abort = (): void => void request.destroy()
  for (const signal of signals) signal.addEventListener('abort', abort)
  request.once('close', () => {
    for (const signal of signals) signal.removeEventListener('abort', abort)
  })
  return new Promise((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (response) => {
      // What breaks later is seen by whoever reads the body.
      request.off('error', reject)
      request.on('error', () => undefined)
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response })
    })
    request.end(body)
    if (signals.some(({ aborted }) => aborted)) abort()
  })
}

/** Where the same request is to be sent again. Headers are for their own server only: undefined for any other. */
function redirectOf(
  { status, headers }: OpenResponse,
  method: string,
  url: URL,
  upstream: URL,
): URL | undefined {
  const isFollowed = [307, 308].includes(status) || (method === 'GET' && [301, 302].includes(status))
  const base = upstream.origin + url.pathname + url.search
  if (!isFollowed || headers.location === undefined || !URL.canParse(headers.location, base)) return undefined
  const target = new URL(headers.location, base)
  return target.origin === upstream.origin ? new URL(target.pathname + target.search, url.origin) : undefined
}

/** An agent that keeps connections, for one client. */
export function createClientAgent(url: URL): http.Agent {
  return url.protocol === 'https:'
    ? new https.Agent({ keepAlive: true })
    : new http.Agent({ keepAlive: true, noDelay: true })
}

export function isEventStream(headers: http.IncomingHttpHeaders): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
}

/**
 * The whole body as text.
 *
 * @throws RangeError when it is longer than a message may be
 */
export async function readBody(
  body: http.IncomingMessage,
  flow: Flow,
): Promise<{ text: string; isLossy: boolean }> {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    await flow.opened()
    sizeBytes += chunk.length
    if (sizeBytes > longestMessage) throw new RangeError('the response is longer than 64 MB')
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  return { text: bytes.toString('utf8'), isLossy: !isUtf8(bytes) }
}
