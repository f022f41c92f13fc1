export {
  callOutcomes,
  type CallBlame,
  type CallFacts,
  type CallOutcome,
  type CallStory,
  type Sentence,
} from './call.js'
export { createCallCollector, type CallCollector, type ReadRow } from './collect.js'
export { requestOf, wrongCalls } from './wrong-calls.js'
export { tellBriefly, tellCall } from './tell.js'
