export type { CaptureLink } from './link.js'
export { runScreen, type ScreenEnd, type ScreenOptions } from './screen.js'
