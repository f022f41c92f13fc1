export type { CaptureLink } from './link.js'
export { pickOne, pickSome, type Choice, type PickerOptions } from './picker.js'
export { runScreen, type ScreenEnd, type ScreenOptions } from './screen.js'
