export { acceptTexts } from './accept-texts.js'
export type { Unanswered } from './default-answer.js'
export {
  callOnce,
  openServer,
  setValues,
  withServer,
  type CallOutcome,
  type CallRequest,
  type ClientRole,
  type GreetedServer,
  type OpenServer,
} from './call-once.js'
export { compareFilesOf, readCompareFile, readCompareFileOf } from './compare-file.js'
export { Learner, settledReport, type Learned, type LearnedRule } from './learn.js'
export type { Connect } from './live-connection.js'
export type { SetValue } from './live-values.js'
export type { MessageOutcome } from './outcome.js'
export { narrowSets } from './narrow-sets.js'
export { keptBytes, planReplay, type Plan } from './plan.js'
export { resultFile } from './result-file.js'
export type { RunOptions, RunResult, RunSink } from './run-options.js'
export { runReplay } from './run-replay.js'
export { parseSetValue } from './set-value.js'
export { settleSecrets } from './settle-secrets.js'
export { connectTo, describeTarget, type ReplayTarget } from './target.js'
export { replay, type ReplayResult } from './replay.js'
export type { ReplayOptions } from './replay-options.js'
export { createWithoutSecrets, type WithoutSecrets } from './without-secrets.js'
export { addRules } from './write-compare-file.js'
