import type { Line } from './spans.js'

/** The lines of the screen, by part. */
export interface Frame {
  readonly lines: readonly Line[]
  /** Index in `lines` of the marked line; -1 for none. */
  readonly selected: number
}
