export { canBegin } from './can-begin.js'
export { closed } from './closed.js'
export { codeOf, diskReason, isDiskFull, readReason, realDisk, type Disk } from './disk.js'
export type { MessageLine, MessagePlace } from '../formats/index.js'
export { Journal } from './journal.js'
export type { JournalOptions, JournalReport, TapeEnd } from './journal-report.js'
export { makeFolder } from './make-folder.js'
export {
  asParts,
  lentBytes,
  openFile,
  openRecording,
  openSegments,
  readStart,
  recordingIn,
  type FileStart,
  type PlainFile,
  type RecordingFile,
} from './read-file.js'
export { OpenRecords } from './open-records.js'
export { isOrigin, originOf, type Origin } from './origin.js'
export { randomBytes, randomUUID } from './random.js'
export { recoverTape } from './recover.js'
export { SegmentFile } from './segment-file.js'
export { fullTapePath, startFullTape, startTape } from './start-tape.js'
export { safeLabel, segmentPath, tapeFileName } from './tape-path.js'
export { createTapeLister, type TapeLister } from './known-tapes.js'
export { listTapes, summarizeTape, type TapeSummary } from './summary.js'
export { snapshotTape } from './read-tape.js'
export { whyNotOurs } from './ownership.js'
export { descriptorOf, outletAt } from './outlet.js'
export { checkReplaceable, isUntouched, replaceFile, type FileIdentity } from './replace-file.js'
export { isNamedPipe, refusePipe, refuseStandardStream, refuseTape } from './refuse-tape.js'
export { removedAtSignal } from './removed-at-signal.js'
export { isAbandoned, writerTag } from './temporary-name.js'
export { createTagger } from './tagger.js'
export { createTextStore, type TextStore } from './text-store.js'
export { segmentsBeside } from './segments-beside.js'
export { segmentsOf } from './segments-of.js'
export {
  readRecording,
  type ReadRecording,
  type RecordedExchange,
  type RecordedMessage,
} from './read-recording.js'
export { createQuotaDisk, deleteShipped, type Quota } from './quota-disk.js'
export {
  isShipped,
  isUnchanged,
  readShippedMark,
  readStoreName,
  shippedMarkPath,
  storeNamePath,
  type ShippedMark,
} from './shipped.js'
