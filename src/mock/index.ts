export type { Miss } from './miss.js'
export { prepareStage, serveOnStreams, type PlayOptions, type Stage } from './mock.js'
export type { ServedStream } from './serve-stream.js'
export { serveHttp, type HttpServeOptions, type ServedHttp } from './http/serve-http.js'
