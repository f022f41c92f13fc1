export { createMirroredHeaders, type MirroredHeaders } from './mirrored-headers.js'
export type {
  ClientConnection,
  ClientEvents,
  ClientFrame,
  HttpLink,
  Link,
  LinkFailure,
  ServerLink,
  ServerMessage,
} from './link.js'
export { frameOf, saidBy } from './frame-of.js'
export { connectHttp, connectSse, type HttpClientOptions } from './client/index.js'
export { connectStdio } from './client/stdio.js'
export { ServerLines } from './client/server-lines.js'
export { acceptsBoth, acceptsEvents, isJsonType } from './server/media-types.js'
export { connectInMemory, type MemoryPeer, type MemoryServer } from './memory.js'
export { LegacySseServer } from './server/legacy-sse.js'
export { StandaloneStream } from './server/standalone-stream.js'
export { PostLink } from './server/streamable-http.js'
export { StdioServerLink } from './server/stdio.js'
export { readBody, readPost, type Post, type PostFault, type PostPolicy } from './server/read-post.js'
export { accept, notAllowed, sendError } from './server/refuse.js'
export { openEvents, type EventResponse } from './server/sse-response.js'
export { headerFault } from './server/modern-request.js'
export {
  startHttpBridge,
  startStdioBridge,
  type HttpBridge,
  type HttpBridgeOptions,
  type StdioBridge,
  type StdioBridgeOptions,
} from './bridge/index.js'
