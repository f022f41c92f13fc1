export type { Miss } from './miss.js'
export { mock, startMock, type Mock, type MockOptions } from './mock.js'
