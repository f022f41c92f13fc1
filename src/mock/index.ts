export type { Miss } from './miss.js'
export { mock, startMock, type Mock } from './mock.js'
export type { MockOptions } from './mock-options.js'
export { serveStream, type StreamTalk } from './serve-stream.js'
