import type { ForwardProxy, ForwardProxyOptions } from './start-forward-proxy.js'

export type { ForwardProxy, ForwardProxyOptions } from './start-forward-proxy.js'
export type { TunnelReason } from './connect.js'
export type { UpstreamProxy } from './upstream-proxy.js'
export { targetOfUrl } from './target.js'
export { matchesHost, parseHostPattern, type HostPattern } from './host-patterns.js'

/**
 * A recording forward proxy. Loaded on demand, like the reverse proxy.
 *
 * @throws WiretapeError `usage`, in one line
 */
export async function startForwardProxy(options: ForwardProxyOptions): Promise<ForwardProxy> {
  const proxy = await import('./start-forward-proxy.js')
  return proxy.startForwardProxy(options)
}
