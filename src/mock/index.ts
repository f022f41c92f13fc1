export type { Miss } from './miss.js'
export { mock, startMock, type Mock, type MockOptions } from './mock.js'
export { serveStream, type StreamTalk } from './serve-stream.js'
export type { Sink } from './sink.js'
