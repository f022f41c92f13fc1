export { Correlator, relatePart, type OpenRequest, type Relations } from './correlate.js'
export { plainId, requestKey } from './request-key.js'
export { canRelate } from './short-ids.js'
export { idLength, MessageIds } from './message-ids.js'
export type { PlainId } from './request-key.js'
export { createClientWaits } from './client-waits.js'
export { createIntColumn, createNumberColumn, grownColumns, setRow, type Column } from './columns.js'
export { durationForms, parseDuration } from './duration.js'
export { parseSizeBytes } from './size.js'
export { createRecent, detach } from './recent.js'
export { TextCache } from './text-cache.js'
export { isCommandLine, joinCommandLine, splitCommandLine } from './command-line.js'
export type { Diagnostic, Position, Report } from './diagnostic.js'
export {
  entryFlag,
  entryKinds,
  isMessageKind,
  loneKinds,
  type EntryFlag,
  type EntryKind,
  type EntryColumns,
  type EntryTable,
  type LoneKind,
} from './entry-table.js'
export {
  isAnswer,
  isNamelessError,
  opposite,
  type Direction,
  type Envelope,
  type MessageKind,
  type Transport,
} from './envelope.js'
export { WiretapeError, type ErrorCode } from './error.js'
export type { Counts } from './counts.js'
export {
  factsOf,
  hasFailed,
  isAnsweredHere,
  isErrorAnswer,
  isFailedAnswer,
  isForWiretape,
  isOwnAnswer,
  isUnanswered,
  whoInjected,
  type Fact,
} from './row-facts.js'
export {
  checkPath,
  checkShapes,
  isFlag,
  isFunction,
  isMembers,
  isText,
  isTexts,
  oneOf,
  type OptionShape,
} from './option-shapes.js'
export { createFold, type Fold } from './fold.js'
export { isMeasurable } from './measurable.js'
export { asLegacySse, isEndpointEvent } from './legacy-sse.js'
export { createOrigins, mergedIn, readMerged, type MergedRecording, type Origin } from './merged.js'
export type { PlainMessage } from './plain-message.js'
export { eraOf, protocolVersions } from './protocol.js'
export type {
  DroppedRecord,
  EndRecord,
  FrameEnd,
  GapRecord,
  HeldRecord,
  HttpContext,
  HttpPhases,
  HttpHeaders,
  HttpRecord,
  JsonMembers,
  Link,
  LinkKind,
  MessageRecord,
  MetaRecord,
  NoiseRecord,
  NoteRecord,
  RestartFacts,
  Part,
  RedactionMark,
  RuleCount,
  SseContext,
  StderrRecord,
  TapeClosing,
  TapeRecord,
  UndeliveredRecord,
} from './record.js'
export { RecordClock } from './record-clock.js'
export { isFrameRecord, isLoneRecord, loneFacts, recordTypes } from './record-types.js'
export { createRowNumbers, createRowWalk, type NamedRequest, type Rows, type WalkedRow } from './row-walk.js'
export { noTime, type Session } from './session.js'
export { createRecordCorrelator } from './held-together.js'
export { IdTable } from './id-table.js'
export { createRounds } from './rounds.js'
export type { Draft } from './draft.js'
export { utf8Length } from './utf8-length.js'
export { madeMeta } from './made-meta.js'
