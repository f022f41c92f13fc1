export { createFindings, type RecordingFindings } from './engine.js'
export { createLiveFindings, type LiveFindings } from './live.js'
export { findingsByRow, type FindingsByRow } from './by-row.js'
export { levels, type Level } from './levels.js'
export {
  packs,
  type Certainty,
  type Finding,
  type OwaspCategory,
  type Pack,
  type Rule,
  type RuleInfo,
} from './finding.js'
export { rules } from './rules/index.js'
export { contractRules, type Contract } from './rules/contract/expectations.js'
export {
  countsOf as countFindings,
  findingReports,
  hashOf,
  numbersOf,
  wantedRules,
  whereOf,
  type CheckedRecording,
  type FindingsReport,
  type ToldFinding,
} from './reports/index.js'
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
  callOutcomes,
  createCallCollector,
  requestOf,
  tellBriefly,
  tellCall,
  wrongCalls,
  type CallBlame,
  type CallCollector,
  type CallFacts,
  type CallOutcome,
  type CallStory,
  type ReadRow,
  type Sentence,
} from './explain/index.js'
