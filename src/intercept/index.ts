export {
  loadRules,
  type Guard,
  type GuardVerdict,
  watchRules,
  type LoadedRules,
  type RuleFrame,
  type Rules,
  type WatchedRules,
} from './rules/index.js'
export type { Decision } from './decision.js'
export type { FramePlace, GateEntry, Ledger, Sent, ToolBook } from './ledger.js'
export { createAskedRequests } from './asked-requests.js'
export { liveSubject } from './live-subject.js'
export { GateFault } from './fault.js'
export type { HeldMessage, Outcome } from './held-message.js'
export { Intercept, type InterceptOptions } from './intercept.js'
export { createStdioWire } from './stdio-wire.js'
export { createHttpWire } from './http-wire.js'
export type { HttpGatekeeper, HttpLanes } from './http-lanes.js'
export { parseBreakpoints } from './breakpoints.js'
export type { GatedWire, Injection } from './wire.js'
