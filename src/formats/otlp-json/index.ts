import { lazyWrite } from '../lazy.js'
import type { Format } from '../format.js'

/** Spans by the OpenTelemetry conventions for MCP, as OTLP takes them over HTTP. */
export const otlpJson: Format = {
  id: 'otlp-json',
  title: 'OpenTelemetry spans (OTLP JSON)',
  detect: () => 0,
  write: lazyWrite(async () => (await import('./write.js')).writeSpans),
}
