import type { RecordFlag } from './record-flag.js'

const protocols = ['http/json', 'http/protobuf']

export const otlpFlags: readonly RecordFlag[] = [
  {
    long: '--otlp',
    key: 'otlp',
    value: 'url',
    help: 'export spans and metrics to this OpenTelemetry receiver (OTLP over HTTP), e.g. http://localhost:4318; env uses the OTEL_* variables',
  },
  {
    long: '--otlp-protocol',
    key: 'otlpProtocol',
    value: 'protocol',
    help: 'with --otlp: http/json (default) or http/protobuf',
    parse(value) {
      if (!protocols.includes(value)) throw new Error(`Use ${protocols.join(' or ')}.`)
      return value
    },
  },
  {
    long: '--otlp-payload',
    key: 'otlpPayload',
    help: 'with --otlp: include the payloads of requests and responses in spans, redacted like the recording',
  },
]
