import {
  answeredHere,
  createLosses,
  createMeter,
  observe,
  resourceOf,
  type Meter,
  type Resource,
  type Span,
} from '../formats/index.js'
import type { Feed } from './feed.js'
import type { TelemetrySettings } from './settings.js'

/** One recording: its description, and its telemetry so far. */
export interface RecordingSource {
  readonly feed: Feed
  /** Undefined before its first record is read. */
  readonly about: { readonly resource: Resource; readonly meter: Meter } | undefined
  /** Resolves when all is read, or reading was stopped. Rejects when a record cannot be understood: a bug. */
  readonly isRead: Promise<void>
  sent: number
  leftOut: number
  /** Number of spans waiting to be sent. */
  queued: number
  /** Why data was left out. */
  why: string | undefined
}

/** Requests that await their response; beyond this number, the oldest end without one. */
const mostOpen = 10_000

/** Reads a recording that is still being written. */
export function createRecordingSource(
  feed: Feed,
  settings: Pick<TelemetrySettings, 'resource' | 'temporality' | 'payloads'>,
  onSpan: (span: Span, source: RecordingSource) => void,
): RecordingSource {
  let about: RecordingSource['about']

  async function aboutIt(): Promise<NonNullable<typeof about>> {
    const meta = await feed.meta
    const startMs = Date.parse(meta?.startedAt ?? '') || Date.now()
    const startNs = BigInt(startMs) * 1_000_000n
    return {
      resource: resourceOf(meta, settings.resource),
      meter: createMeter({ startNs, temporality: settings.temporality }),
    }
  }

  async function read(): Promise<void> {
    const recording = answeredHere({ records: () => feed.records() })
    const losses = createLosses(() => undefined)
    const observed = observe(recording, undefined, losses, { payloads: settings.payloads, mostOpen })
    for await (const { span, measures } of observed) {
      about ??= await aboutIt()
      for (const measure of measures) about.meter.take(measure)
      if (span) onSpan(span, source)
    }
    about ??= await aboutIt()
  }

  const source: RecordingSource = {
    feed,
    get about() {
      return about
    },
    isRead: Promise.resolve().then(read),
    sent: 0,
    leftOut: 0,
    queued: 0,
    why: undefined,
  }
  return source
}
