export { type Channel } from './channel.js'
export { createRecorder, type Recorder, type RecorderOptions } from './recorder.js'
export { type RecorderInit, type SessionEnd } from './recorder-core.js'
