import { ownMetric, type OwnMetric } from '../../formats/index.js'
import type { Lag } from './lag.js'

/** Counters since the start. */
export interface CollectorCounts {
  segments: number
  messages: number
  /** Compressed size. */
  bytes: number
  /** Deliveries of already indexed segments. */
  repeated: number
  dead: number
  /** Failed attempts that are repeated. */
  failed: number
  /** Gaps reported by recorders. */
  gaps: number
  /** Lost messages reported by recorders. */
  lost: number
}

export function noCounts(): CollectorCounts {
  return { segments: 0, messages: 0, bytes: 0, repeated: 0, dead: 0, failed: 0, gaps: 0, lost: 0 }
}

/** A collector's work and the backlog of its source, as metrics: see docs/telemetry.md. */
export function collectorMetrics(counts: CollectorCounts, lag: Lag): OwnMetric[] {
  return [
    ownMetric('sum', 'collector.segments', '{segment}', 'Segments in written batches.', counts.segments),
    ownMetric('sum', 'collector.messages', '{message}', 'Rows in written batches.', counts.messages),
    ownMetric(
      'sum',
      'collector.bytes',
      'By',
      'Compressed bytes of the segments in written batches.',
      counts.bytes,
    ),
    ownMetric(
      'sum',
      'collector.repeated',
      '{segment}',
      'Deliveries of segments that were in the index already.',
      counts.repeated,
    ),
    ownMetric('sum', 'collector.dead', '{segment}', 'Segments that could not be read.', counts.dead),
    ownMetric('sum', 'collector.failures', '{attempt}', 'Failed attempts that are retried.', counts.failed),
    ownMetric('sum', 'collector.gaps', '{gap}', 'Gaps in indexed segments.', counts.gaps),
    ownMetric(
      'sum',
      'collector.lost',
      '{message}',
      'Messages lost in gaps of indexed segments.',
      counts.lost,
    ),
    ownMetric(
      'gauge',
      'collector.waiting',
      '{segment}',
      'Segments that are not in the index yet.',
      lag.segments,
    ),
    ownMetric(
      'gauge',
      'collector.lag',
      's',
      'Age of the oldest segment that is not in the index yet.',
      lag.ms / 1000,
    ),
  ]
}
