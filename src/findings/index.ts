export { createFindings, type RecordingFindings } from './engine.js'
export { createLiveFindings } from './live.js'
export { findingsByRow, type FindingsByRow } from './by-row.js'
export { levels, type Level } from './levels.js'
export { packs, type Certainty, type Finding, type Rule } from './finding.js'
export { rules } from './rules/index.js'
export { contractRules, type Contract } from './rules/contract/expectations.js'
export {
  countsOf as countFindings,
  hashOf,
  numbersOf,
  wantedRules,
  whereOf,
  type CheckedRecording,
  type FindingsReport,
  type ToldFinding,
} from './reports/report.js'
export { findingReports } from './reports/index.js'
export {
  costKey,
  createCostTable,
  estimateTokens,
  estimator,
  type CostObserver,
  type DefinitionCost,
  type DefinitionSizes,
} from './cost.js'
export {
  compareServers,
  createPinTable,
  definitionDrift,
  driftWords,
  type Drift,
  type Fields,
  type PinnedKind,
  type PinnedServer,
} from './pin.js'
export {
  createCallCollector,
  requestOf,
  tellBriefly,
  tellCall,
  wrongCalls,
  type CallOutcome,
  type CallStory,
} from './explain/index.js'
