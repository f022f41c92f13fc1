import type { Line } from './spans.js'

/** What is shown: lines by part of the screen. */
export interface Frame {
  readonly lines: readonly Line[]
  /** The line of `lines` that is marked; -1 for none. */
  readonly selected: number
}
