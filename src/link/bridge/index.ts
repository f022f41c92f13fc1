import type { HttpBridge, HttpBridgeOptions } from './bridge-to-http.js'
import type { StdioBridge, StdioBridgeOptions } from './bridge-to-stdio.js'

export type { HttpBridge } from './bridge-to-http.js'
export type { StdioBridge } from './bridge-to-stdio.js'

/** Connects a stdio client to an HTTP server. Loaded on demand, to keep `node:http` out of the stdio path. */
export async function startHttpBridge(options: HttpBridgeOptions): Promise<HttpBridge> {
  const bridge = await import('./bridge-to-http.js')
  return bridge.startHttpBridge(options)
}

/** Offers a stdio server as an HTTP server on loopback. @throws WiretapeError `usage` when it cannot listen */
export async function startStdioBridge(options: StdioBridgeOptions): Promise<StdioBridge> {
  const bridge = await import('./bridge-to-stdio.js')
  return bridge.startStdioBridge(options)
}
