export { applyPlan, type FailedFile } from './apply.js'
export { clientKinds, type ClientKind, type ConfigPlace, type Places } from './catalogue/index.js'
export {
  planInstall,
  planUninstall,
  type FileChange,
  type InstallOptions,
  type Plan,
  type ServerChange,
} from './change.js'
export { configuredServerOf, readConfiguredServer } from './configured/configured-server.js'
export type { ConfiguredServer } from './configured/configured.js'
export { readConfigFile } from './config-file.js'
export { parseConfig } from './config/index.js'
export { entryEnv, readEntries, type Launch, type ServerEntry } from './entry.js'
export { findClients, type FoundClient, type FoundFile } from './find-servers.js'
export { isPassing, launcherPath, writeLauncher } from './launcher.js'
export { openLedger, type Ledger } from './ledger.js'
export { expand, probeRemote } from './probe-remote.js'
export { isLauncher, labelOf, readWrapping, type Wrapping } from './wrapping.js'
