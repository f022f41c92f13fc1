export type { CaptureLink } from './link.js'
export { pickOne, pickSome, type Choice } from './picker.js'
export { runScreen } from './screen.js'
