export { defaultLabel } from './label.js'
export { redactedMetadata } from './running-capture.js'
export type { CaptureFiles } from './capture-options.js'
export type { CaptureOptions } from './capture-options.js'
export {
  recordStdio,
  registryFolderIn,
  type CaptureResult,
  type StdioCaptureOptions,
} from './record-stdio.js'
export type { ReloadSettings } from './reload.js'
export { policyFiles, policyInForce } from './policy-in-force.js'
export { recordHttp, type HttpCaptureOptions } from './record-http.js'
export {
  recordForward,
  type ForwardCaptureOptions,
  type ForwardResult,
  type TrafficReport,
} from './forward/record-forward.js'
export { exemptHosts } from './forward/client-environment.js'
export { forwardSignals } from './signals.js'
export { closedTape, ownProgram, record, type LibraryRecordOptions, type Recorder } from './record.js'
export { recordBridge, type BridgeCaptureOptions, type BridgeResult } from './record-bridge.js'
export { recordListen, type ListenCaptureOptions } from './record-listen.js'
export { createFindingsGuard, type FindingAction } from './findings-guard.js'
export type { MakeGuard } from './live-context.js'
