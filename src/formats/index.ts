export type { Format, Input, Recording, RecordingEnds, Seen } from './format.js'
export { adopt } from './adopt.js'
export { withFoundTransport } from './found-transport.js'
export { attended, chained, flatMapped, inBatches, mapped, replaced } from './iterate.js'
export { mergeLive, mergeRecordings, type LiveMerge } from './merge.js'
export {
  importInto,
  profiles,
  importTranscript,
  transcriptFormats,
  type Episode,
  type ImportedTranscript,
  type ImportOptions,
  type Profile,
  type TranscriptFormat,
  Irregular,
  readTranscriptBatches,
  type MessageBatch,
} from './assay-trace/index.js'
export { otlpWithPayloads } from './otlp/index.js'
export { otlpEncoders } from './otlp/encoders.js'
export { observe } from './otlp/observe.js'
export { resourceOf } from './otlp/describe.js'
export { createMeter, ownMetric, type Meter, type OwnMetric } from './otlp/meter.js'
export type { Resource, Span } from './otlp/telemetry.js'
export { createLosses } from './losses.js'
export { parquet } from './parquet/index.js'
export { cell as csvCell } from './csv/cell.js'
export { htmlReport, type ReportPage } from './html/index.js'
export { answeredHere, createAnsweredHere, type AnsweredHere } from './answered-here.js'
export {
  compactSession,
  createDroppedFrames,
  sessionJson,
  viewSession,
  type SessionRow,
} from './session-json/index.js'
export { detectFormat, detectionBytes, formats } from './registry.js'
export { fromUtf16, utf16Fault, utf16Of } from './utf16.js'
export {
  TraceScan,
  decodeLine,
  encodeMessageAround,
  encodeMessageTail,
  mostPlaceBytes,
  PlaceEncoder,
  type MessagePlace,
  lineEnd,
  MessageLineEncoder,
  type MessageLine,
  encodeRecord,
  readTraceLines,
  severalServersCode,
  traceV1,
  type PlainLine,
  PlainLineMessage,
  PlainLines,
  type PlainLineArrays,
  type TakePlain,
  canLend,
  LentMessage,
  PlainEncoder,
  plainReaders,
  type PlainForm,
  type PlainFormat,
  type TraceLine,
} from './trace-v1/index.js'
export {
  isAboutWhole,
  isOfWhole,
  joinSegments,
  tapePlace,
  type PartOf,
  type SegmentPlace,
} from './join-segments.js'
export { strictTrace } from './trace-v1/strict.js'
