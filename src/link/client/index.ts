import type { ClientConnection, ClientEvents, HttpLink } from '../link.js'
import type { HttpClientOptions } from './streamable-http.js'

/**
 * A client of a Streamable HTTP server, of either era. Handles sessions, the protocol version, event streams
 * and their resumption. Sends nothing before the first frame. Loaded on demand, like all of HTTP.
 */
export async function connectHttp(
  url: URL,
  options: HttpClientOptions,
  events: ClientEvents,
): Promise<HttpLink> {
  const { StreamableHttpLink } = await import('./streamable-http.js')
  return new StreamableHttpLink(url, options, events)
}

/**
 * A client of an HTTP+SSE server (2024-11-05).
 *
 * @throws Error when the stream does not open, or names no endpoint
 */
export async function connectSse(
  url: URL,
  options: HttpClientOptions,
  events: ClientEvents,
): Promise<ClientConnection> {
  const { LegacySseLink } = await import('./legacy-sse.js')
  return LegacySseLink.open(url, options, events)
}
