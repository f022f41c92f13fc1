import type { Attributes, Metric, Temporality } from './telemetry.js'

/** Bucket bounds of the OpenTelemetry conventions for MCP, in seconds. */
export const durationBounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const

export type DurationMetric =
  | 'mcp.client.operation.duration'
  | 'mcp.server.operation.duration'
  | 'mcp.client.session.duration'
  | 'mcp.server.session.duration'

const descriptions: Readonly<Record<DurationMetric, string>> = {
  'mcp.client.operation.duration':
    'The duration of the MCP request or notification as observed on the sender from the time it was sent until the response or ack is received.',
  'mcp.server.operation.duration':
    'MCP request or notification duration as observed on the receiver from the time it was received until the result or ack is sent.',
  'mcp.client.session.duration': 'The duration of the MCP session as observed on the MCP client.',
  'mcp.server.session.duration': 'The duration of the MCP session as observed on the MCP server.',
}

/** One measured duration. */
export interface Measure {
  readonly metric: DurationMetric
  readonly seconds: number
  readonly attributes: Attributes
}

/** A count or a state of wiretape itself. */
export interface OwnMetric {
  readonly name: string
  readonly unit: string
  readonly description: string
  /** A sum counts up from 0; a gauge is the current value. */
  readonly kind: 'sum' | 'gauge'
  readonly attributes?: Attributes
  readonly value: number
}

/** @param name without `wiretape.` */
export function ownMetric(
  kind: OwnMetric['kind'],
  name: string,
  unit: string,
  description: string,
  value: number,
): OwnMetric {
  return { name: `wiretape.${name}`, unit, description, kind, value }
}

export interface Collected {
  readonly metrics: readonly Metric[]
  /** Confirms delivery: deltas restart from here. Without it the next report includes these, too. */
  readonly arrived: () => void
}

/** Sums up durations, and reports them in either temporality. */
export interface Meter {
  take(measure: Measure): void
  collect(timeNs: bigint, own?: readonly OwnMetric[]): Collected
}

/** Peers choose names of tools and methods: further series of a metric become one (OpenTelemetry's limit and name). */
const mostSeries = 2000
const overflow: Attributes = [['otel.metric.overflow', true]]

interface Series {
  readonly attributes: Attributes
  now: Tally
  /** State at the last delivered report. */
  told: Tally
}

interface Tally {
  readonly count: number
  readonly sum: number
  readonly buckets: readonly number[]
}

const nothing: Tally = {
  count: 0,
  sum: 0,
  buckets: Array.from({ length: durationBounds.length + 1 }, () => 0),
}

export function createMeter(options: { readonly startNs: bigint; readonly temporality: Temporality }): Meter {
  const { temporality } = options
  const isDelta = temporality === 'delta'
  let fromNs = options.startNs
  const metrics = new Map<DurationMetric, Map<string, Series>>()
  const toldOwn = new Map<string, number>()

  function seriesOf(metric: DurationMetric, attributes: Attributes): Series {
    const all = metrics.get(metric) ?? new Map<string, Series>()
    metrics.set(metric, all)
    const key = JSON.stringify(attributes)
    const known = all.get(key)
    if (known) return known
    if (all.size >= mostSeries && attributes !== overflow) return seriesOf(metric, overflow)
    const made: Series = { attributes, now: nothing, told: nothing }
    all.set(key, made)
    return made
  }

  function collect(timeNs: bigint, own: readonly OwnMetric[] = []): Collected {
    const startNs = isDelta ? fromNs : options.startNs
    const taken: [Series, Tally][] = []
    const found: Metric[] = []
    for (const [name, all] of metrics) {
      const points = []
      for (const series of all.values()) {
        const { attributes, now, told } = series
        taken.push([series, now])
        const since = isDelta ? minus(now, told) : now
        if (since.count > 0) points.push({ attributes, startNs, timeNs, ...since })
      }
      const about = { name, unit: 's', description: descriptions[name] }
      if (points.length > 0)
        found.push({ ...about, kind: 'histogram', temporality, bounds: durationBounds, points })
    }
    const ownTaken: [string, number][] = []
    for (const [name, group] of byName(own)) {
      const { unit, description, kind } = group[0]!
      const points = group.map(({ attributes = [], value }) => {
        const key = JSON.stringify([name, attributes])
        const isCount = kind === 'sum'
        if (isCount) ownTaken.push([key, value])
        return {
          attributes,
          startNs,
          timeNs,
          value: isDelta && isCount ? value - (toldOwn.get(key) ?? 0) : value,
        }
      })
      const about = { name, unit, description, points }
      found.push(kind === 'sum' ? { ...about, kind, temporality } : { ...about, kind })
    }
    return {
      metrics: found,
      arrived() {
        for (const [series, tally] of taken) series.told = tally
        for (const [key, value] of ownTaken) toldOwn.set(key, value)
        fromNs = timeNs
      },
    }
  }

  return {
    take({ metric, seconds, attributes }) {
      const series = seriesOf(metric, attributes)
      const { count, sum, buckets } = series.now
      const place = durationBounds.findIndex((bound) => seconds <= bound)
      const at = place === -1 ? durationBounds.length : place
      series.now = { count: count + 1, sum: sum + seconds, buckets: buckets.with(at, buckets[at]! + 1) }
    },
    collect,
  }
}

function byName(own: readonly OwnMetric[]): Map<string, OwnMetric[]> {
  const groups = new Map<string, OwnMetric[]>()
  for (const one of own) groups.set(one.name, [...(groups.get(one.name) ?? []), one])
  return groups
}

function minus(now: Tally, told: Tally): Tally {
  return {
    count: now.count - told.count,
    sum: now.sum - told.sum,
    buckets: now.buckets.map((count, i) => count - told.buckets[i]!),
  }
}
