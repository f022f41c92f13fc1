import type { OwnMetric } from '../../formats/index.js'
import type { CollectorCounts } from './collector.js'

/** A collector's work, as metrics: see docs/telemetry.md. */
export function collectorMetrics(counts: CollectorCounts): OwnMetric[] {
  const sum = (name: string, unit: string, description: string, value: number): OwnMetric => ({
    name: `wiretape.collector.${name}`,
    unit,
    description,
    kind: 'sum',
    value,
  })
  return [
    sum('segments', '{segment}', 'Segments in written batches.', counts.segments),
    sum('messages', '{message}', 'Rows in written batches.', counts.messages),
    sum('bytes', 'By', 'Compressed bytes of the segments in written batches.', counts.bytes),
    sum('repeated', '{segment}', 'Deliveries of segments that were in the index already.', counts.repeated),
    sum('dead', '{segment}', 'Segments that could not be read.', counts.dead),
    sum('failures', '{attempt}', 'Failed attempts that are retried.', counts.failed),
    sum('gaps', '{gap}', 'Gaps in indexed segments.', counts.gaps),
    sum('lost', '{message}', 'Messages lost in gaps of indexed segments.', counts.lost),
    {
      ...sum(
        'lag',
        's',
        'Time from shipping to the index, for the slowest segment of the last batch.',
        counts.lagMs / 1000,
      ),
      kind: 'gauge',
    },
  ]
}
