import type { Format } from './format.js'
import { assayTrace } from './assay-trace/index.js'
import { csv } from './csv/index.js'
import { har } from './har/index.js'
import { httpSse, streamableHttp } from './http-transcript/index.js'
import { inspector } from './inspector/index.js'
import { jsonrpc } from './jsonrpc/index.js'
import { markdown } from './markdown/index.js'
import { otlpJson, otlpMetricsJson, otlpMetricsProto, otlpProto } from './otlp/index.js'
import { sessionJson } from './session-json/index.js'
import { traceV1 } from './trace-v1/index.js'

/** Every format, in the order of detection. */
export const formats: readonly Format[] = [
  traceV1,
  sessionJson,
  jsonrpc,
  inspector,
  har,
  streamableHttp,
  httpSse,
  assayTrace,
  otlpJson,
  otlpProto,
  otlpMetricsJson,
  otlpMetricsProto,
  markdown,
  csv,
]

/** Bytes of an input that `detectFormat` needs; fewer when the input is shorter. */
export const detectionBytes = 65_536

/** The readable format with the highest score for these first bytes; undefined when none matches. */
export function detectFormat(head: Uint8Array): Format | undefined {
  let best: Format | undefined
  let bestScore = 0
  for (const format of formats) {
    const score = format.read ? format.detect(head) : 0
    if (score === 1) return format
    if (score > bestScore) {
      best = format
      bestScore = score
    }
  }
  return best
}
