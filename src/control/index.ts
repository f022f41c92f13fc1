export { liveCaptures, registerCapture, type LiveCapture, type Registration } from './registry.js'
