import { isUtf8 } from 'node:buffer'
import http from 'node:http'
import https from 'node:https'
import { longestMessage } from '../../wire/index.js'
import type { Flow } from './flow.js'

/** The head of a response, with its body still unread. */
export interface OpenResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: http.IncomingHttpHeaders
  readonly body: http.IncomingMessage
}

export interface HttpRequest {
  readonly url: URL
  /** The server's public origin, when `url` is that of our own proxy. @default the same */
  readonly upstream?: URL | undefined
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: string
  readonly agent: http.Agent
  /** Each of them aborts the exchange. */
  readonly signals: readonly AbortSignal[]
}

/** More redirects than this count as a loop. */
const mostRedirects = 5

/**
 * Sends a request and waits for the head of its response. Follows redirects on the server's own origin where the same
 * request may be sent again. The caller reads the body, or destroys it.
 *
 * @throws Node's error when the connection fails
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
    // Node adds no headers to a list.
    headers: [
      'Host',
      url.host,
      ...headers.flat(),
      ...(body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))]),
    ],
  })
  // Streams may stay open for any time.
  request.setTimeout(0)
  // Not by Node's `signal` option: its error also reaches the socket between two requests, when it has no listener.
  const abort = (): void => void request.destroy()
  for (const signal of signals) signal.addEventListener('abort', abort)
  request.once('close', () => {
    for (const signal of signals) signal.removeEventListener('abort', abort)
  })
  return new Promise((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (response) => {
      // The reader of the body sees later errors.
      request.off('error', reject)
      request.on('error', () => undefined)
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response })
    })
    request.end(body)
    if (signals.some(({ aborted }) => aborted)) abort()
  })
}

/** The URL for the same request. Undefined for another origin, because the headers are for this server only. */
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

/** A keep-alive agent for one client. */
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
 * @throws RangeError when it is longer than `longestMessage`
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
