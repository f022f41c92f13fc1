import type { LocalServer, LocalServerOptions } from './local-server.js'
import type { HttpProxy, HttpProxyOptions } from './start-http-proxy.js'

export type { LocalServer, LocalServerOptions } from './local-server.js'
export type { HttpProxy, HttpProxyOptions } from './start-http-proxy.js'

/**
 * A reverse proxy that tells what passed. Loaded when it is asked for: `node:http` costs a recorder of stdio its
 * start-up, and makes Node look at `process.stderr`, which makes the client's own stderr one that does not block.
 *
 * @throws WiretapeError `usage`, in one line
 */
export async function startHttpProxy(options: HttpProxyOptions): Promise<HttpProxy> {
  const proxy = await import('./start-http-proxy.js')
  return proxy.startHttpProxy(options)
}

/**
 * A server for programs on this machine, behind the same checks. Loaded when it is asked for, for the same reason.
 *
 * @throws WiretapeError `usage`, in one line
 */
export async function startLocalServer(options: LocalServerOptions): Promise<LocalServer> {
  const server = await import('./local-server.js')
  return server.startLocalServer(options)
}
