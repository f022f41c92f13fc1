import { ownMetric, type OwnMetric } from '../formats/index.js'
import type { FeedCounts } from './feed.js'

/** The exporter's figures about its own work for one recording. */
export interface ExportState {
  readonly spansSent: number
  readonly spansLeftOut: number
  readonly refusals: number
  readonly queued: number
}

/** The health of a recorder, as metrics. */
export function ownMetrics(counts: FeedCounts, state: ExportState): OwnMetric[] {
  const directions = ['client_to_server', 'server_to_client'] as const
  return [
    ...directions.map((direction) => ({
      ...ownMetric(
        'sum',
        'recorder.messages',
        '{message}',
        'Messages on the tape.',
        counts.messages[direction],
      ),
      attributes: [['direction', direction]] as const,
    })),
    ...directions.map((direction) => ({
      ...ownMetric(
        'sum',
        'recorder.bytes',
        'By',
        'Bytes of the messages on the tape.',
        counts.bytes[direction],
      ),
      attributes: [['direction', direction]] as const,
    })),
    ownMetric('sum', 'recorder.gaps', '{gap}', 'Gaps on the tape.', counts.gaps),
    ownMetric('sum', 'recorder.lost', '{message}', 'Messages that passed unrecorded.', counts.lost),
    ownMetric(
      'gauge',
      'recorder.lag',
      's',
      'Delay from forwarding the newest message until telemetry read it.',
      counts.lagMs / 1000,
    ),
    ownMetric('sum', 'telemetry.spans', '{span}', 'Spans accepted by the receiver.', state.spansSent),
    ownMetric('sum', 'telemetry.left_out', '{span}', 'Spans that were not exported.', state.spansLeftOut),
    ownMetric('sum', 'telemetry.unread', '{record}', 'Tape records that telemetry skipped.', counts.unread),
    ownMetric(
      'sum',
      'telemetry.refusals',
      '{request}',
      'Requests that the receiver refused or did not answer.',
      state.refusals,
    ),
    ownMetric('gauge', 'telemetry.queue', '{span}', 'Spans waiting to be sent.', state.queued),
  ]
}
