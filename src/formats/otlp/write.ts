import type { Report } from '../../model/index.js'
import type { Recording } from '../format.js'
import { createLosses } from '../losses.js'
import { textChunks } from '../text-chunks.js'
import { metaOf } from '../told/told.js'
import { resourceOf } from './describe.js'
import { jsonAroundSpans, jsonMetrics, jsonSpan } from './encode-json.js'
import { protoMetrics, protoSpan, protoSpans } from './encode-proto.js'
import { createMeter } from './meter.js'
import { observe, type ObserveOptions } from './observe.js'
import type { Metric, Resource } from './telemetry.js'

type Write = (recording: Recording, report: Report) => AsyncIterable<Uint8Array>

/** Spans as one `ExportTraceServiceRequest` in JSON. */
export function jsonSpansWriter(options: ObserveOptions = {}): Write {
  return (recording, report) => textChunks(jsonText(recording, report, options), recording)
}

async function* jsonText(
  recording: Recording,
  report: Report,
  options: ObserveOptions,
): AsyncGenerator<string, void, undefined> {
  const losses = createLosses(report)
  const meta = await metaOf(recording)
  const [before, between, after] = jsonAroundSpans(resourceOf(meta))
  yield before
  let separator = ''
  for await (const { span } of observe(recording, meta, losses, options)) {
    if (!span) continue
    yield `${separator}${jsonSpan(span)}`
    separator = between
  }
  yield after
  losses.tell()
}

/** Bytes of spans per write. */
const chunkBytes = 1 << 18

/** Spans as one `ExportTraceServiceRequest` in protobuf. */
export function protoSpansWriter(options: ObserveOptions = {}): Write {
  return async function* (recording, report) {
    const losses = createLosses(report)
    const meta = await metaOf(recording)
    const resource = resourceOf(meta)
    let spans: Uint8Array[] = []
    let size = 0
    for await (const { span } of observe(recording, meta, losses, options)) {
      if (!span) continue
      const bytes = protoSpan(span)
      spans.push(bytes)
      size += bytes.length
      if (size < chunkBytes) continue
      yield protoSpans(resource, spans)
      spans = []
      size = 0
    }
    if (spans.length > 0) yield protoSpans(resource, spans)
    losses.tell()
  }
}

/** The histograms of durations as one `ExportMetricsServiceRequest`. */
export function metricsWriter(encoding: 'json' | 'protobuf'): Write {
  return async function* (recording, report) {
    const losses = createLosses(report)
    const { resource, metrics } = await measured(recording, losses)
    losses.tell()
    yield encoding === 'json'
      ? new TextEncoder().encode(jsonMetrics(resource, metrics))
      : protoMetrics(resource, metrics)
  }
}

async function measured(
  recording: Recording,
  losses: ReturnType<typeof createLosses>,
): Promise<{ resource: Resource; metrics: readonly Metric[] }> {
  const meta = await metaOf(recording)
  const startNs = BigInt(Math.max(0, Date.parse(meta?.startedAt ?? '') || 0)) * 1_000_000n
  const meter = createMeter({ startNs, temporality: 'cumulative' })
  let endNs = startNs
  for await (const { span, measures } of observe(recording, meta, losses)) {
    if (span) losses.add('messages are left out; only durations are kept')
    if (span && span.endNs > endNs) endNs = span.endNs
    for (const measure of measures) meter.take(measure)
  }
  return { resource: resourceOf(meta), metrics: meter.collect(endNs).metrics }
}
