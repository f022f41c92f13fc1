/** Options of `record` for the export to OpenTelemetry. */
export interface OtlpOptions {
  /** Base URL of the receiver, or `env`. */
  readonly otlp?: string
  readonly otlpProtocol?: 'http/json' | 'http/protobuf'
  readonly otlpPayload?: boolean
}
