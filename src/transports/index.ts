export { createDeadline, longestTimerMs } from './deadline.js'
export { createDecoder, decodeWhole, isIdentity, wordsOf, type Decoder } from './content-coding.js'
export { addressBytes, raiseBarrier, storedSecret, type Access } from './barrier/index.js'
export { createDrain } from './stdio/drain.js'
export { startClient, type ClientProcess } from './stdio/client-process.js'
export { reasonNotFound } from './stdio/find-program.js'
export { isForegroundGroup } from './stdio/foreground.js'
export { openOwnStdio } from './stdio/own-stdio.js'
export type { ReadMemory } from './stdio/memory-socket.js'
export type { ValvePort } from './stdio/pump.js'
export { runStdio, type StdioRun } from './stdio/run-stdio.js'
export {
  createLineWriter,
  endServer,
  graceMs,
  startOwnServer,
  within,
  type OwnServerOptions,
} from './stdio/own-server.js'
export { startWatchdog, type Watchdog } from './stdio/watchdog.js'
export { failureWords } from './http-proxy/failure-words.js'
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
  ArrivalTime,
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
export { startReloadable, type ReloadableServer } from './reload/reloadable-server.js'
export type { Restart } from './reload/restart.js'
