import type {
  Attributes,
  HistogramPoint,
  Metric,
  NumberPoint,
  Resource,
  Span,
  Temporality,
} from './telemetry.js'

/**
 * OTLP as JSON: the protobuf mapping (64-bit integers as strings), but with hexadecimal ids and numeric enumerations.
 */

const spanKinds = { server: 2, client: 3 } as const
const errorStatus = 2
/** `has_is_remote` and `is_remote`: the parent came in a message. */
const remoteParent = 0x300
const temporalities: Readonly<Record<Temporality, number>> = { delta: 1, cumulative: 2 }

/** The JSON around the spans of a request: before, between and after them. */
export function jsonAroundSpans(resource: Resource): readonly [string, string, string] {
  return [
    `{"resourceSpans":[{"resource":${resourceText(resource)},"scopeSpans":[{"scope":${scopeText(resource)},"spans":[\n`,
    ',\n',
    '\n]}]}]}\n',
  ]
}

export function jsonSpan({ parent, ...span }: Span): string {
  return JSON.stringify({
    traceId: span.traceId,
    spanId: span.spanId,
    ...(parent && { parentSpanId: parent.spanId, flags: parent.flags | remoteParent }),
    ...(parent?.state !== undefined && { traceState: parent.state }),
    name: span.name,
    kind: spanKinds[span.kind],
    startTimeUnixNano: String(span.startNs),
    endTimeUnixNano: String(span.endNs),
    attributes: attributesOf(span.attributes),
    ...(span.error !== undefined && {
      status: { code: errorStatus, ...(span.error !== '' && { message: span.error }) },
    }),
  })
}

export function jsonMetrics(resource: Resource, metrics: readonly Metric[]): string {
  const texts = metrics.map((metric) => JSON.stringify(metricOf(metric)))
  // Protobuf readers cannot distinguish an empty list from a missing one.
  const list = texts.length === 0 ? '' : `,"metrics":[\n${texts.join(',\n')}\n]`
  return (
    `{"resourceMetrics":[{"resource":${resourceText(resource)},` +
    `"scopeMetrics":[{"scope":${scopeText(resource)}${list}}]}]}\n`
  )
}

function metricOf(metric: Metric): object {
  const { name, unit, description } = metric
  const about = { name, unit, description }
  switch (metric.kind) {
    case 'gauge':
      return { ...about, gauge: { dataPoints: metric.points.map(numberOf) } }
    case 'sum':
      return {
        ...about,
        sum: {
          dataPoints: metric.points.map(numberOf),
          aggregationTemporality: temporalities[metric.temporality],
          isMonotonic: true,
        },
      }
    case 'histogram':
      return {
        ...about,
        histogram: {
          dataPoints: metric.points.map((point) => histogramOf(point, metric.bounds)),
          aggregationTemporality: temporalities[metric.temporality],
        },
      }
  }
}

function numberOf({ value, ...point }: NumberPoint): object {
  return { ...timesOf(point), ...(Number.isInteger(value) ? { asInt: String(value) } : { asDouble: value }) }
}

function histogramOf({ count, sum, buckets, ...point }: HistogramPoint, bounds: readonly number[]): object {
  return {
    ...timesOf(point),
    count: String(count),
    sum,
    bucketCounts: buckets.map(String),
    explicitBounds: bounds,
  }
}

function timesOf({ attributes, startNs, timeNs }: Omit<NumberPoint, 'value'>): object {
  return {
    ...(attributes.length > 0 && { attributes: attributesOf(attributes) }),
    startTimeUnixNano: String(startNs),
    timeUnixNano: String(timeNs),
  }
}

function attributesOf(attributes: Attributes): object[] {
  return attributes.map(([key, value]) => ({ key, value: valueOf(value) }))
}

function valueOf(value: Attributes[number][1]): object {
  if (typeof value === 'string') return { stringValue: value }
  return typeof value === 'boolean' ? { boolValue: value } : { intValue: String(value) }
}

function resourceText({ attributes }: Resource): string {
  return JSON.stringify({ attributes: attributesOf(attributes) })
}

function scopeText({ version }: Resource): string {
  return JSON.stringify({ name: 'wiretape', ...(version !== undefined && { version }) })
}
