import { jsonAroundSpans, jsonMetrics, jsonSpan } from './encode-json.js'
import { protoMetrics, protoSpan, protoSpans } from './encode-proto.js'
import type { Metric, Resource, Span } from './telemetry.js'

/** Bodies of export requests. */
export interface OtlpEncoder {
  /** One span, for `spans`. */
  span(span: Span): Uint8Array
  spans(resource: Resource, spans: readonly Uint8Array[]): Uint8Array
  metrics(resource: Resource, metrics: readonly Metric[]): Uint8Array
}

const utf8 = new TextEncoder()

/** By OpenTelemetry's names (`OTEL_EXPORTER_OTLP_PROTOCOL`). */
export const otlpEncoders: Readonly<Record<'http/json' | 'http/protobuf', OtlpEncoder>> = {
  'http/json': {
    span: (span) => utf8.encode(jsonSpan(span)),
    spans(resource, spans) {
      const [before, between, after] = jsonAroundSpans(resource).map((text) => utf8.encode(text))
      const parts = spans.flatMap((span, i) => (i === 0 ? [span] : [between!, span]))
      return joined([before!, ...parts, after!])
    },
    metrics: (resource, metrics) => utf8.encode(jsonMetrics(resource, metrics)),
  },
  'http/protobuf': { span: protoSpan, spans: protoSpans, metrics: protoMetrics },
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let size = 0
  for (const part of parts) {
    all.set(part, size)
    size += part.length
  }
  return all
}
