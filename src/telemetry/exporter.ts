import { otlpEncoders } from '../formats/index.js'
import type { TapeEnd } from '../tape/index.js'
import { createClosing, Delivery, type Closing } from './delivery.js'
import { Feed } from './feed.js'
import { ownMetrics } from './own-metrics.js'
import { createPoster } from './post.js'
import { createRecordingSource, type RecordingSource } from './recording-source.js'
import type { Target, TelemetrySettings } from './settings.js'
import { createSpanSender, type SpanSender } from './span-sender.js'

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

/** Deadlines for reading the rest of the tape, for sending its spans, and for everything. */
const readMs = 1_000
const spansMs = 2_000
const allMs = 2_500

/** Exports the recordings of one run. */
export class Exporter {
  readonly #settings: TelemetrySettings
  readonly #version: string
  readonly #spansEnd = createClosing()
  readonly #allEnd = createClosing()
  readonly #spansDelivery: Delivery | undefined
  readonly #metricsDelivery: Delivery | undefined
  readonly #sender: SpanSender | undefined
  readonly #sources = new Map<number, RecordingSource>()
  #reporting: Promise<unknown> = Promise.resolve()
  readonly #timer: NodeJS.Timeout | undefined
  #isReporting = false

  constructor(settings: TelemetrySettings, version: string) {
    this.#settings = settings
    this.#version = version
    this.#spansDelivery = this.#deliveryOf(settings.traces, this.#spansEnd)
    this.#metricsDelivery = this.#deliveryOf(settings.metrics, this.#allEnd)
    this.#sender =
      this.#spansDelivery && createSpanSender(settings, settings.traces!.protocol, this.#spansDelivery)
    this.#timer =
      this.#metricsDelivery && setInterval(() => void this.#reportAll(), settings.metricIntervalMs)
  }

  /** @param tape path of the first segment */
  follow(id: number, tape: string): void {
    const source = createRecordingSource(new Feed(tape), this.#settings, (span, from) =>
      this.#sender?.add(span, from),
    )
    // Reported by `finish`.
    source.isRead.catch(() => undefined)
    this.#sources.set(id, source)
  }

  grew(id: number, end: TapeEnd | undefined): void {
    this.#sources.get(id)?.feed.grew(end)
  }

  /** Sends remaining data, as far as possible within 2.5 s of the end of the first recording. Never rejects. */
  async finish(id: number): Promise<TelemetryReport> {
    const report = await this.#finish(this.#sources.get(id)!)
    this.#sources.delete(id)
    if (this.#sources.size === 0) clearInterval(this.#timer)
    return report
  }

  #deliveryOf(target: Target | undefined, closing: Closing): Delivery | undefined {
    return target && new Delivery(createPoster(target, `wiretape/${this.#version}`), closing)
  }

  /** A slow receiver gets the next report later. */
  async #reportAll(): Promise<void> {
    if (this.#isReporting) return
    this.#isReporting = true
    for (const source of this.#sources.values()) await this.#report(source)
    this.#isReporting = false
  }

  /** @returns why the report did not arrive */
  #report(source: RecordingSource): Promise<string | undefined> {
    const sent = this.#reporting.then(() => this.#reportNow(source))
    this.#reporting = sent
    return sent
  }

  async #reportNow({ about, feed, sent, leftOut, queued }: RecordingSource): Promise<string | undefined> {
    if (!about || !this.#metricsDelivery) return undefined
    const refusals = (this.#spansDelivery?.refusals ?? 0) + this.#metricsDelivery.refusals
    const state = { spansSent: sent, spansLeftOut: leftOut, refusals, queued }
    const timeNs = BigInt(Date.now()) * 1_000_000n
    const { metrics, arrived } = about.meter.collect(timeNs, ownMetrics(feed.counts, state))
    const encoder = otlpEncoders[this.#settings.metrics!.protocol]
    const result = await this.#metricsDelivery.deliver(encoder.metrics(about.resource, metrics))
    if (result.kind === 'left-out') return result.why
    arrived()
    return undefined
  }

  async #finish(source: RecordingSource): Promise<TelemetryReport> {
    const { feed } = source
    const now = performance.now()
    this.#spansEnd.set(now + spansMs)
    this.#allEnd.set(now + allMs)
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
    await this.#sender?.flush()
    const metricsTrouble = await this.#report(source)
    return {
      spansSent: source.sent,
      spansLeftOut: source.leftOut,
      unread: feed.counts.unread,
      ...(source.why !== undefined && { why: source.why }),
      ...(metricsTrouble !== undefined && { metricsTrouble }),
    }
  }
}
