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

/** Every format, in the order in which they are asked whether an input is theirs. */
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

/** Bytes of an input that `detectFormat` wants to see; fewer when the input is shorter. */
export const detectionBytes = 65_536

/** The readable format that is surest about these first bytes, or undefined when none knows them. */
export function detectFormat(head: Uint8Array): Format | undefined {
  let best: Format | undefined
  let bestScore = 0
  for (const format of formats) {
    const score = format.read ? format.detect(head) : 0
    if (score > bestScore) {
      best = format
      bestScore = score
    }
  }
  return best
}
