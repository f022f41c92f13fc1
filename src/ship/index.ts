export {
  bytesOf,
  type Content,
  type ObjectStore,
  type Range,
  type StoredObject,
} from './store/object-store.js'
export { openStore, parseStoreAddress, type StoreAddress } from './store/open-store.js'
export { openJetStreamStore, sealedStream, type JetStreamStore } from './store/jetstream-store.js'
export {
  decodeManifest,
  manifestKey,
  manifestTrouble,
  sealedSubject,
  segmentKey,
  type Manifest,
} from './manifest.js'
export { connectNats, loadNats, natsFailure, natsFilesOf, type NatsFiles } from './store/nats-connection.js'
export { readFleet, type FleetHost } from './fleet.js'
export { decodeHostState, keepHostState, tellHostState, whoAmI, type HostState } from './host-state.js'
export { hasZstd, writeAll } from './seal-segment.js'
export { findFinished, type FinishedSegment } from './finished-segments.js'
export { shipSegments, waitingOf, type ShipOptions, type ShipReport } from './ship-segments.js'
