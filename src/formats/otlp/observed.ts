import type { Measure } from './meter.js'
import type { Span } from './telemetry.js'

/** Telemetry completed by a message: its span and durations. */
export interface Observed {
  readonly span?: Span
  readonly measures: readonly Measure[]
}
