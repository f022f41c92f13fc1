import type { HttpBridge, HttpBridgeOptions } from './bridge-to-http.js'
import type { StdioBridge, StdioBridgeOptions } from './bridge-to-stdio.js'

export type { HttpBridge, HttpBridgeOptions } from './bridge-to-http.js'
export type { StdioBridge, StdioBridgeOptions } from './bridge-to-stdio.js'

/** Joins a client on stdio with an HTTP server. Loaded when it is asked for: `node:http` is not for the stdio path. */
export async function startHttpBridge(options: HttpBridgeOptions): Promise<HttpBridge> {
  const bridge = await import('./bridge-to-http.js')
  return bridge.startHttpBridge(options)
}

/** Makes an HTTP server on loopback of a server on stdio. @throws WiretapeError `usage` when it cannot listen */
export async function startStdioBridge(options: StdioBridgeOptions): Promise<StdioBridge> {
  const bridge = await import('./bridge-to-stdio.js')
  return bridge.startStdioBridge(options)
}
