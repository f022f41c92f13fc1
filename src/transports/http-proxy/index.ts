import type { LocalServer, LocalServerOptions } from './local-server.js'
import type { HttpProxy, HttpProxyOptions } from './start-http-proxy.js'

export type { LocalServer, LocalServerOptions } from './local-server.js'
export type { HttpProxy, HttpProxyOptions } from './start-http-proxy.js'

/**
 * A recording reverse proxy. Loaded on demand: `node:http` slows down the start of a stdio recorder, and makes
 * Node open `process.stderr`, which makes the client's own stderr non-blocking.
 *
 * @throws WiretapeError `usage`, in one line
 */
export async function startHttpProxy(options: HttpProxyOptions): Promise<HttpProxy> {
  const proxy = await import('./start-http-proxy.js')
  return proxy.startHttpProxy(options)
}

/**
 * A server for programs on this machine, behind the same checks. Loaded on demand for the same reason.
 *
 * @throws WiretapeError `usage`, in one line
 */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const server = await import('./local-server.js')
  return server.startLocalServer(options)
}
