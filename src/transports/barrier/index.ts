export { raiseBarrier, type Access, type Barrier } from './barrier.js'
export { addressBytes } from './socket-table.js'
export { storedSecret } from './stored-secret.js'
