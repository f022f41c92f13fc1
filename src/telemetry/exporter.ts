import { otlpEncoders } from '../formats/index.js'
import type { TapeEnd } from '../tape/index.js'
import { createClosing, createDelivery, type Closing, type Delivery } from './delivery.js'
import { createFeed } from './feed.js'
import { ownMetrics } from './own-metrics.js'
import { createPoster } from './post.js'
import { createRecordingSource, type RecordingSource } from './recording-source.js'
import type { Target, TelemetrySettings } from './settings.js'
import { createSpanSender } from './span-sender.js'

/** The outcome of the telemetry of one recording. */
export interface TelemetryReport {
  readonly spansSent: number
  readonly spansLeftOut: number
  /** Records that were skipped: they came too fast, are too long, or were not read in time. */
  readonly unread: number
  /** Why data was left out, as far as one reason explains it. */
  readonly why?: string
  /** Why the last metrics report did not arrive. */
  readonly metricsTrouble?: string
}

/** Exports the recordings of one run. */
export interface Exporter {
  /** @param tape path of the first segment */
  follow(id: number, tape: string): void
  grew(id: number, end: TapeEnd | undefined): void
  /** Sends remaining data, as far as possible within 2.5 s of the end of the first recording. Never rejects. */
  finish(id: number): Promise<TelemetryReport>
}

/** Deadlines for reading the rest of the tape, for sending its spans, and for everything. */
const readMs = 1_000
const spansMs = 2_000
const allMs = 2_500

export function createExporter(settings: TelemetrySettings, version: string): Exporter {
  const spansEnd = createClosing()
  const allEnd = createClosing()
  const deliveryOf = (target: Target | undefined, closing: Closing): Delivery | undefined =>
    target && createDelivery(createPoster(target, `wiretape/${version}`), closing)
  const spansDelivery = deliveryOf(settings.traces, spansEnd)
  const metricsDelivery = deliveryOf(settings.metrics, allEnd)
  const sender = spansDelivery && createSpanSender(settings, settings.traces!.protocol, spansDelivery)
  const sources = new Map<number, RecordingSource>()
  let reporting: Promise<unknown> = Promise.resolve()
  const timer = metricsDelivery && setInterval(() => void reportAll(), settings.metricIntervalMs)
  let isReporting = false

  /** A slow receiver gets the next report later. */
  async function reportAll(): Promise<void> {
    if (isReporting) return
    isReporting = true
    for (const source of sources.values()) await report(source)
    isReporting = false
  }

  /** @returns why the report did not arrive */
  function report(source: RecordingSource): Promise<string | undefined> {
    const sent = reporting.then(() => reportNow(source))
    reporting = sent
    return sent
  }

  async function reportNow({
    about,
    feed,
    sent,
    leftOut,
    queued,
  }: RecordingSource): Promise<string | undefined> {
    if (!about || !metricsDelivery) return undefined
    const refusals = (spansDelivery?.refusals ?? 0) + metricsDelivery.refusals
    const state = { spansSent: sent, spansLeftOut: leftOut, refusals, queued }
    const timeNs = BigInt(Date.now()) * 1_000_000n
    const { metrics, arrived } = about.meter.collect(timeNs, ownMetrics(feed.counts, state))
    const encoder = otlpEncoders[settings.metrics!.protocol]
    const result = await metricsDelivery.deliver(encoder.metrics(about.resource, metrics))
    if (result.kind === 'left-out') return result.why
    arrived()
    return undefined
  }

  async function finish(source: RecordingSource): Promise<TelemetryReport> {
    const { feed } = source
    const now = performance.now()
    spansEnd.set(now + spansMs)
    allEnd.set(now + allMs)
    feed.ended()
    const late = setTimeout(() => {
      feed.counts.unread += 1
      source.why = 'the rest of the tape was not read in time'
      feed.stop()
    }, readMs)
    try {
      await source.isRead
    } catch (error) {
      source.why = `the tape could not be read: ${String(error)}`
      feed.counts.unread += 1
    }
    clearTimeout(late)
    await sender?.flush()
    const metricsTrouble = await report(source)
    return {
      spansSent: source.sent,
      spansLeftOut: source.leftOut,
      unread: feed.counts.unread,
      ...(source.why !== undefined && { why: source.why }),
      ...(metricsTrouble !== undefined && { metricsTrouble }),
    }
  }

  return {
    follow(id, tape) {
      const source = createRecordingSource(createFeed(tape), settings, (span, from) =>
        sender?.add(span, from),
      )
      // Reported by `finish`.
      source.isRead.catch(() => undefined)
      sources.set(id, source)
    },
    grew: (id, end) => sources.get(id)?.feed.grew(end),
    async finish(id) {
      const report = await finish(sources.get(id)!)
      sources.delete(id)
      if (sources.size === 0) clearInterval(timer)
      return report
    },
  }
}
