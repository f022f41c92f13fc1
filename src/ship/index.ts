export {
  bytesOf,
  type Content,
  type ObjectStore,
  type Range,
  type StoredObject,
} from './store/object-store.js'
export { openStore, parseStoreAddress, type StoreAddress } from './store/open-store.js'
export { openJetStreamStore, sealedStream, type JetStreamStore } from './store/jetstream-store.js'
export { decodeManifest, manifestKey, sealedSubject, segmentKey, type Manifest } from './manifest.js'
export { connectNats, loadNats, natsFailure, natsFilesOf, type NatsFiles } from './store/nats-connection.js'
