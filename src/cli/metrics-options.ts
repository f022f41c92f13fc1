import { Option } from 'commander'

/** Options of a shipper and a collector about the metrics that they export; see `OtlpOptions`. */
export function otlpOption(): Option {
  return new Option(
    '--otlp <url>',
    'export metrics to this OpenTelemetry receiver (docs/telemetry.md); env: where the OTEL_* variables say',
  )
}

export function otlpProtocolOption(): Option {
  return new Option('--otlp-protocol <name>', 'with --otlp (default: http/json)').choices([
    'http/json',
    'http/protobuf',
  ])
}
