export { createMirroredHeaders, type MirroredHeaders } from './mirrored-headers.js'
export type { ClientConnection, ClientEvents, ClientFrame } from './link.js'
export { connectHttp, connectSse, type HttpClientOptions } from './client/index.js'
export { connectStdio } from './client/stdio.js'
export { headerFault } from './server/modern-request.js'
export {
  startHttpBridge,
  startStdioBridge,
  type HttpBridge,
  type HttpBridgeOptions,
  type StdioBridge,
  type StdioBridgeOptions,
} from './bridge/index.js'
