export { record, type LibraryRecordOptions as RecordOptions, type Recorder } from './capture/index.js'
export type {
  Difference,
  ExchangeComparison,
  ExchangeSide,
  Level,
  OfferChange,
  SubjectLatency,
  Verdict,
} from './compare/index.js'
export { detectFormat, formats, type Format } from './formats/index.js'
export { mock, type Miss, type Mock, type MockOptions } from './mock/index.js'
export {
  createFold,
  WiretapeError,
  type Counts,
  type Diagnostic,
  type Envelope,
  type ErrorCode,
  type Fold,
  type MessageRecord,
  type Session,
  type TapeRecord,
} from './model/index.js'
export {
  replay,
  type MessageOutcome,
  type ReplayOptions,
  type ReplayResult,
  type ReplayTarget,
} from './replay/index.js'
export {
  openRecording,
  readRecording,
  recoverTape,
  type ReadRecording,
  type RecordedExchange,
  type RecordedMessage,
  type RecordingFile,
} from './tape/index.js'
export { idKey } from './wire/index.js'
