import http from 'node:http'
import https from 'node:https'

/** One request and the head of its response. */
export interface OpenResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: http.IncomingHttpHeaders
  readonly body: http.IncomingMessage
}

export interface HttpRequest {
  readonly url: URL
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: string
  readonly agent: http.Agent
  readonly signal: AbortSignal
}

/**
 * Sends a request and waits for the head of its response. Whoever calls reads the body, or destroys it.
 *
 * @throws what Node says about connections that fail
 */
export function openResponse({
  url,
  method,
  headers,
  body,
  agent,
  signal,
}: HttpRequest): Promise<OpenResponse> {
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
  signal.addEventListener('abort', abort)
  request.once('close', () => signal.removeEventListener('abort', abort))
  return new Promise((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (response) => {
      // What breaks later is seen by whoever reads the body.
      request.off('error', reject)
      request.on('error', () => undefined)
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response })
    })
    request.end(body)
    if (signal.aborted) abort()
  })
}

/** An agent that keeps connections, for one client. */
export function createClientAgent(url: URL): http.Agent {
  return url.protocol === 'https:'
    ? new https.Agent({ keepAlive: true })
    : new http.Agent({ keepAlive: true })
}

/**
 * The whole body as text.
 *
 * @throws RangeError when it is larger than `maxBytes`
 */
export async function readBody(body: http.IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new RangeError(`more than ${maxBytes / 1024 / 1024} MiB`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
