import type { Measure } from './meter.js'
import type { Span } from './telemetry.js'

/** What a message ends: its span, and the durations that are known with it. */
export interface Observed {
  readonly span?: Span
  readonly measures: readonly Measure[]
}
