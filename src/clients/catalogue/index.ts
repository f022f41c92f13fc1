export { clientKinds, type ClientKind, type ConfigPlace } from './clients.js'
export type { Dialect } from './dialect.js'
export type { Places } from './places.js'
