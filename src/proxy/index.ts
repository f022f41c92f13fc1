export { type Channel } from './channel.js'
export { createRecorder, type Recorder, type RecorderOptions } from './recorder.js'
export { createRunRedactor, type Redaction } from './run-redactor.js'
export { type RecorderInit, type RecordingReport, type SessionEnd } from './recorder-core.js'
