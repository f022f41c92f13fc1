export {
  loadRules,
  type Guard,
  type GuardVerdict,
  watchRules,
  type DescribedRule,
  type LoadedRules,
  type RuleDecision,
  type RuleFrame,
  type RulePart,
  type Rules,
  type RuleVerdict,
  type StartedRules,
  type WatchedRules,
  type WatchRulesOptions,
} from './rules/index.js'
export type { FramePlace, FrameVerdict, GateEntry, Ledger, Sent, ToolBook } from './ledger.js'
export { liveSubject, type Asked } from './live-subject.js'
export { GateFault, idInUse } from './fault.js'
export type { Cause, HeldMessage, HeldReason, Outcome } from './held-message.js'
export { Intercept, type InterceptObserver, type InterceptOptions, type InterceptState } from './intercept.js'
export { createStdioWire, type StdioLanes } from './stdio-wire.js'
export { createHttpWire } from './http-wire.js'
export type { HttpGatekeeper, HttpLanes } from './http-lanes.js'
export { parseBreakpoints } from './breakpoints.js'
export type { GatedWire, Injection } from './wire.js'
