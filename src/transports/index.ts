export { createDeadline, longestTimerMs } from './deadline.js'
export { createDecoder, decodeWhole, wordsOf, type Decoder } from './content-coding.js'
export { addressBytes, raiseBarrier, storedSecret, type Access, type Barrier } from './barrier/index.js'
export { createDrain } from './stdio/drain.js'
export { startClient, type ClientProcess } from './stdio/client-process.js'
export { reasonNotFound } from './stdio/find-program.js'
export { isForegroundGroup } from './stdio/foreground.js'
export { openOwnStdio, type ClientStreams } from './stdio/own-stdio.js'
export type { Valve, ValvePort } from './stdio/pump.js'
export { runStdio, type StdioObserver, type StdioRun } from './stdio/run-stdio.js'
export { createLineWriter, endServer, startOwnServer, within } from './stdio/own-server.js'
export {
  startServer,
  type NotStarted,
  type ServerExit,
  type ServerProcess,
  type StartServer,
  type StartServerOptions,
} from './stdio/server-process.js'
export type {
  Breaker,
  HttpEvent,
  HttpHappening,
  Moment,
  RawHeaders,
  UnheardMessage,
} from './http-proxy/http-event.js'
export type { ExchangeHead, Gatekeeper } from './http-proxy/gatekeeper.js'
export { createConversations, legacySessionOf, type Conversations } from './http-proxy/conversations.js'
export { createEndpoints } from './http-proxy/endpoints.js'
export {
  startHttpProxy,
  startLocalServer,
  type HttpProxy,
  type HttpProxyOptions,
  type LocalServer,
  type LocalServerOptions,
} from './http-proxy/index.js'
export {
  matchesHost,
  parseHostPattern,
  startForwardProxy,
  targetOfUrl,
  type ForwardProxy,
  type ForwardProxyOptions,
  type HostPattern,
  type TunnelReason,
  type UpstreamProxy,
} from './forward-proxy/index.js'
export {
  connectHttp,
  connectSse,
  type ClientConnection,
  type ClientEvents,
  type ClientFrame,
  type HttpClientOptions,
} from './http-client/index.js'
export { headerFault } from './bridge/modern-request.js'
export { createMirroredHeaders, type MirroredHeaders } from './bridge/mirrored-headers.js'
export { connectStdio } from './stdio/connect-stdio.js'
export {
  startHttpBridge,
  startStdioBridge,
  type HttpBridge,
  type HttpBridgeOptions,
  type StdioBridge,
  type StdioBridgeOptions,
} from './bridge/index.js'
export { startReloadable, type ReloadableServer, type Restart } from './reload/reloadable-server.js'
