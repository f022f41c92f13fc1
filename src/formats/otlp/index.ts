import { lazyWrite, writeOnly, type Writing } from '../lazy.js'

/** Spans by the OpenTelemetry conventions for MCP, in the form of OTLP over HTTP. */
export const otlpJson = writeOnly({ id: 'otlp-json', title: 'OpenTelemetry spans (OTLP JSON)' }, async () =>
  (await import('./write.js')).jsonSpansWriter(),
)

export const otlpProto = writeOnly(
  { id: 'otlp-proto', title: 'OpenTelemetry spans (OTLP protobuf)' },
  async () => (await import('./write.js')).protoSpansWriter(),
)

/** The durations of the same conventions, as histograms. */
export const otlpMetricsJson = writeOnly(
  { id: 'otlp-metrics-json', title: 'OpenTelemetry histograms (OTLP JSON)' },
  async () => (await import('./write.js')).metricsWriter('json'),
)

export const otlpMetricsProto = writeOnly(
  { id: 'otlp-metrics-proto', title: 'OpenTelemetry histograms (OTLP protobuf)' },
  async () => (await import('./write.js')).metricsWriter('protobuf'),
)

/** The same spans with payloads, for `--otlp-payload`. */
export const otlpWithPayloads: readonly Writing[] = [
  {
    ...otlpJson,
    write: lazyWrite(async () => (await import('./write.js')).jsonSpansWriter({ payloads: true })),
  },
  {
    ...otlpProto,
    write: lazyWrite(async () => (await import('./write.js')).protoSpansWriter({ payloads: true })),
  },
]
