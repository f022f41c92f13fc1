// @ts-check
/** The official definitions of OTLP read what we write: strictly, so that a member they do not know is an error. */
import { createRequire } from 'node:module'
import { deepStrictEqual } from 'node:assert'

/** Generated from opentelemetry-proto by the OpenTelemetry project. */
const { opentelemetry } = createRequire(import.meta.url)(
  '@opentelemetry/otlp-transformer/build/src/generated/root.js',
)
const services = opentelemetry.proto.collector
const types = {
  traces: services.trace.v1.ExportTraceServiceRequest,
  metrics: services.metrics.v1.ExportMetricsServiceRequest,
}
const replies = {
  traces: services.trace.v1.ExportTraceServiceResponse,
  metrics: services.metrics.v1.ExportMetricsServiceResponse,
}
const ids = new Set(['traceId', 'spanId', 'parentSpanId'])

/**
 * The content of an export request, in its JSON mapping.
 *
 * @param {'traces' | 'metrics'} signal
 * @param {string} contentType
 * @param {Uint8Array} body
 * @returns {any}
 */
export function readExport(signal, contentType, body) {
  const type = types[signal]
  if (contentType === 'application/x-protobuf') {
    const message = type.decode(body)
    // Fields that the definitions do not know are skipped by readers; written again, they would be missing.
    if (type.encode(message).finish().length !== body.length) throw new Error('a field is not known')
    return readable(type, message)
  }
  if (contentType !== 'application/json') throw new Error(`415 for ${contentType}`)
  const json = JSON.parse(Buffer.from(body).toString())
  const read = readable(type, type.decode(type.encode(type.fromObject(idsAsBytes(json))).finish()))
  deepStrictEqual(read, json)
  return read
}

/**
 * An answer in which some were refused.
 *
 * @param {'traces' | 'metrics'} signal @param {string} contentType @param {number} rejected @param {string} errorMessage
 * @returns {Uint8Array | string}
 */
export function partialSuccess(signal, contentType, rejected, errorMessage) {
  const name = signal === 'traces' ? 'rejectedSpans' : 'rejectedDataPoints'
  const reply = { partialSuccess: { [name]: String(rejected), errorMessage } }
  if (contentType === 'application/json') return JSON.stringify(reply)
  return replies[signal].encode(replies[signal].fromObject(reply)).finish()
}

/** @param {any} type @param {any} message */
function readable(type, message) {
  return idsAsHex(type.toObject(message, { longs: String, enums: Number, json: true }))
}

/** @param {any} value @returns {any} */
function idsAsHex(value) {
  return mapped(value, (text) => Buffer.from(text).toString('hex'))
}

/** @param {any} value @returns {any} */
function idsAsBytes(value) {
  return mapped(value, (text) => {
    if (!/^(?:[0-9a-f]{16}){1,2}$/.test(text)) throw new Error(`${text} is no id`)
    return Buffer.from(text, 'hex')
  })
}

/** @param {any} value @param {(id: any) => any} change @returns {any} */
function mapped(value, change) {
  if (Array.isArray(value)) return value.map((one) => mapped(one, change))
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, ids.has(name) ? change(one) : mapped(one, change)]),
  )
}
