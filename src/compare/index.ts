export { canonicalJson } from './canonical-json.js'
export { checkSchema, type SchemaFault } from './schema-check.js'
export { compareQuestions } from './compare-questions.js'
export { RecordingComparison, isNote, zeroCounts } from './compare-recordings.js'
export type { ComparedRecording, ComparisonSummary, ExchangeComparison, ExchangeSide } from './comparison.js'
export { diffJson, type Difference, type DiffOptions, type Tolerance } from './json-diff.js'
export { pollMsOf, taskPoll, taskStatus } from './task-places.js'
export { withJsonInTexts } from './text-json.js'
export { placeOf, toJsonPath, toPointer, type JsonPlace } from './json-place.js'
export { endsInIdName, isIdName } from './made-ids.js'
export { createKnownFaults, notesIn } from './known-faults.js'
export { createOwnAnswers, ownAnswerNote, restartNotes } from './own-answers.js'
export { createShortTimeOuts } from './short-time-outs.js'
export { createLatencies, type Latencies, type LatencyNumbers, type SubjectLatency } from './latency.js'
export { matchesAlone, parseMatcher, standsAlone, suggestMatcher, type Matcher } from './matcher.js'
export {
  compareOffers,
  compareOfferVersions,
  createOffers,
  offerNotes,
  tellsOffers,
  type Offers,
} from './offers.js'
export type { OfferChange, OfferVersions } from './offer-change.js'
export { outputSchemasOf } from './output-schemas.js'
export type { OfferKind } from './offered-places.js'
export {
  createRecordingIndex,
  marksOf,
  requestHashes,
  type RecordingIndex,
  type Subject,
} from './recording-index.js'
export { anything, paramsKey } from './request-key.js'
export { parseSettingsFile, type SettingsFile } from './settings-file.js'
export {
  ignoreRule,
  levels,
  matchRule,
  parseMatchRule,
  plainSettings,
  withFile,
  fileMember,
  fileNotes,
  type CompareRule,
  type CompareSettings,
  type Level,
} from './settings.js'
export { failureOf, isFailure } from './failure.js'
export { compareAnswers, verdicts, type AnswerComparison, type Asked, type Verdict } from './verdict.js'
export type { AnswerText } from './answer-text.js'
export {
  describeDifference,
  describeOffer,
  describeVaried,
  detailsOf,
  suggestRule,
  titleOf,
} from './describe.js'
export { collectReport, reportKinds, type ComparisonReport } from './reports/index.js'
export { placesIn, ruledPlaces } from './tolerance.js'
export { createVariedCounts, sumOfVaried } from './varied-counts.js'
export { createVarying, type RunSide, type VariedBetween } from './varying.js'
export { rulesFor } from './settings.js'
