import { lazyWrite } from '../lazy.js'
import type { Format } from '../format.js'

type Writing = Format & Required<Pick<Format, 'write'>>

/** Spans by the OpenTelemetry conventions for MCP, in the form of OTLP over HTTP. */
export const otlpJson: Writing = {
  id: 'otlp-json',
  title: 'OpenTelemetry spans (OTLP JSON)',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).jsonSpansWriter()),
}

export const otlpProto: Writing = {
  id: 'otlp-proto',
  title: 'OpenTelemetry spans (OTLP protobuf)',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).protoSpansWriter()),
}

/** The durations of the same conventions, as histograms. */
export const otlpMetricsJson: Writing = {
  id: 'otlp-metrics-json',
  title: 'OpenTelemetry histograms (OTLP JSON)',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).metricsWriter('json')),
}

export const otlpMetricsProto: Writing = {
  id: 'otlp-metrics-proto',
  title: 'OpenTelemetry histograms (OTLP protobuf)',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).metricsWriter('protobuf')),
}

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
