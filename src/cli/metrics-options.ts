import { Option } from 'commander'

/** Options for exported metrics of shippers and collectors; see `OtlpOptions`. */
export function otlpOption(): Option {
  return new Option(
    '--otlp <url>',
    'export metrics to this OpenTelemetry receiver (docs/telemetry.md); env uses the OTEL_* variables',
  )
}

export function otlpProtocolOption(): Option {
  return new Option('--otlp-protocol <name>', 'encoding, with --otlp (default: http/json)').choices([
    'http/json',
    'http/protobuf',
  ])
}
