import { ProtobufWriter } from './protobuf.js'
import type { Attributes, Metric, NumberPoint, Resource, Span, Temporality } from './telemetry.js'

/** OTLP as protobuf. Field numbers are those of opentelemetry-proto 1.x, which never change. */

const spanKinds = { server: 2, client: 3 } as const
const errorStatus = 2
const remoteParent = 0x300
const temporalities: Readonly<Record<Temporality, number>> = { delta: 1, cumulative: 2 }

/** A complete `ExportTraceServiceRequest`. Concatenated ones are valid too: their fields repeat. */
export function protoSpans(resource: Resource, spans: readonly Uint8Array[]): Uint8Array {
  return around(resource, (writer) => {
    for (const span of spans) writer.bytes(2, span)
  })
}

export function protoMetrics(resource: Resource, metrics: readonly Metric[]): Uint8Array {
  return around(resource, (writer) => {
    for (const metric of metrics) writer.message(2, (inner) => writeMetric(inner, metric))
  })
}

/** `ResourceSpans` and `ResourceMetrics` have the same fields, and so have their scopes. */
function around(resource: Resource, write: (writer: ProtobufWriter) => void): Uint8Array {
  const request = new ProtobufWriter()
  request.message(1, (of) => {
    of.message(1, (writer) => writeAttributes(writer, 1, resource.attributes))
    of.message(2, (scoped) => {
      scoped.message(1, (scope) => {
        scope.text(1, 'wiretape')
        if (resource.version !== undefined) scope.text(2, resource.version)
      })
      write(scoped)
    })
  })
  return request.finish()
}

/** One `Span`, for `protoSpans`. */
export function protoSpan(span: Span): Uint8Array {
  const writer = new ProtobufWriter()
  const { parent, error } = span
  writer.hex(1, span.traceId)
  writer.hex(2, span.spanId)
  if (parent?.state !== undefined) writer.text(3, parent.state)
  if (parent) writer.hex(4, parent.spanId)
  writer.text(5, span.name)
  writer.varint(6, spanKinds[span.kind])
  writer.fixed64(7, span.startNs)
  writer.fixed64(8, span.endNs)
  writeAttributes(writer, 9, span.attributes)
  if (error !== undefined)
    writer.message(15, (status) => {
      status.text(2, error)
      status.varint(3, errorStatus)
    })
  if (parent) writer.fixed32(16, parent.flags | remoteParent)
  return writer.finish()
}

function writeMetric(writer: ProtobufWriter, metric: Metric): void {
  writer.text(1, metric.name)
  writer.text(2, metric.description)
  writer.text(3, metric.unit)
  switch (metric.kind) {
    case 'gauge':
      return writer.message(5, (gauge) => writeNumbers(gauge, metric.points))
    case 'sum':
      return writer.message(7, (sum) => {
        writeNumbers(sum, metric.points)
        sum.varint(2, temporalities[metric.temporality])
        sum.bool(3, true)
      })
    case 'histogram':
      return writer.message(9, (histogram) => {
        for (const point of metric.points)
          histogram.message(1, (one) => {
            one.fixed64(2, point.startNs)
            one.fixed64(3, point.timeNs)
            one.fixed64(4, BigInt(point.count))
            one.double(5, point.sum)
            one.packedFixed64(6, point.buckets.map(BigInt))
            one.packedDouble(7, metric.bounds)
            writeAttributes(one, 9, point.attributes)
          })
        histogram.varint(2, temporalities[metric.temporality])
      })
  }
}

function writeNumbers(writer: ProtobufWriter, points: readonly NumberPoint[]): void {
  for (const { startNs, timeNs, value, attributes } of points)
    writer.message(1, (point) => {
      point.fixed64(2, startNs)
      point.fixed64(3, timeNs)
      if (Number.isInteger(value)) point.fixed64(6, BigInt(value))
      else point.double(4, value)
      writeAttributes(point, 7, attributes)
    })
}

const stringValue = 1
const boolValue = 2
const intValue = 3

function writeAttributes(writer: ProtobufWriter, field: number, attributes: Attributes): void {
  for (const [key, value] of attributes)
    writer.message(field, (attribute) => {
      attribute.text(1, key)
      attribute.message(2, (any) =>
        any.oneOf(
          typeof value === 'string' ? stringValue : typeof value === 'boolean' ? boolValue : intValue,
          value,
        ),
      )
    })
}
