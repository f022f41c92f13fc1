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
export { openRecording, recoverTape, type RecordingFile } from './tape/index.js'
export { idKey } from './wire/index.js'
