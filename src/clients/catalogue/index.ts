export { clientKinds, type ClientKind, type ConfigPlace, type ManagingFile } from './clients.js'
export type { Dialect } from './dialect.js'
export type { Places } from './places.js'
