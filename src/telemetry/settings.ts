import { WiretapeError } from '../model/index.js'

export type OtlpProtocol = 'http/json' | 'http/protobuf'
export type Signal = 'traces' | 'metrics'

/** The receiver of one signal. */
export interface Target {
  readonly url: string
  readonly protocol: OtlpProtocol
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly compression: 'none' | 'gzip'
  readonly timeoutMs: number
  /** PEM texts. */
  readonly ca?: string
  readonly certificate?: string
  readonly key?: string
}

/** The exported data and its receivers. Can be passed to threads. */
export interface TelemetrySettings {
  /** Undefined for an unwanted signal. */
  readonly traces: Target | undefined
  readonly metrics: Target | undefined
  readonly temporality: 'delta' | 'cumulative'
  readonly payloads: boolean
  /** Attributes of the resource set by users. */
  readonly resource: readonly (readonly [key: string, value: string])[]
  /** The longest time that spans wait for others. */
  readonly delayMs: number
  readonly metricIntervalMs: number
  readonly mostQueued: number
  readonly mostInBatch: number
}

/** Options of the command line. */
export interface TelemetryOptions {
  /** Base URL of the receiver, or `env` to use the variables. */
  readonly otlp: string
  readonly protocol?: OtlpProtocol
  readonly payloads?: boolean
}

/** The environment from which settings are read. */
export interface TelemetryWorld {
  readonly env: Readonly<Record<string, string | undefined>>
  /** @throws when there is no such file */
  readonly readFile: (path: string) => string
  /** Reports an invalid variable; its default is then used, as OpenTelemetry requires. */
  readonly warn: (line: string) => void
}

const defaultEndpoint = 'http://localhost:4318'
const words = { traces: 'TRACES', metrics: 'METRICS' } as const

/**
 * Variables alone enable nothing: a recorder inherits those of its client, meant for other programs.
 *
 * @returns undefined when `OTEL_SDK_DISABLED` or the exporters' variables disable everything
 * @throws WiretapeError `usage` for an invalid URL, or one with credentials
 */
export function readTelemetrySettings(
  options: TelemetryOptions,
  { warn: tell, ...rest }: TelemetryWorld,
): TelemetrySettings | undefined {
  // Both signals read the same variables.
  const told = new Set<string>()
  const warn = (line: string): void => {
    if (!told.has(line)) tell(line)
    told.add(line)
  }
  const world = { ...rest, warn }
  const { env } = world
  const base = options.otlp === 'env' ? undefined : checkedUrl('--otlp', options.otlp, true)
  if (env['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') {
    warn('no telemetry is exported: OTEL_SDK_DISABLED is true')
    return undefined
  }
  const target = (signal: Signal): Target | undefined => {
    const exporter = envText(env, `OTEL_${words[signal]}_EXPORTER`)
    if (exporter === 'none') return undefined
    return targetOf(signal, base, options, world)
  }
  const [traces, metrics] = [target('traces'), target('metrics')]
  if (!traces && !metrics) {
    warn('no telemetry is exported: OTEL_TRACES_EXPORTER and OTEL_METRICS_EXPORTER are none')
    return undefined
  }
  const count = (name: string, fallback: number): number => countOf(name, fallback, world)
  const mostQueued = count('OTEL_BSP_MAX_QUEUE_SIZE', 10_000)
  return {
    traces,
    metrics,
    temporality: temporalityOf(world),
    payloads: options.payloads === true,
    resource: resourceOf(world),
    delayMs: count('OTEL_BSP_SCHEDULE_DELAY', 1_000),
    metricIntervalMs: count('OTEL_METRIC_EXPORT_INTERVAL', 10_000),
    mostQueued,
    mostInBatch: Math.min(mostQueued, count('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512)),
  }
}

function targetOf(
  signal: Signal,
  base: URL | undefined,
  { protocol }: TelemetryOptions,
  world: TelemetryWorld,
): Target {
  const { env } = world
  /** The variable of one signal has precedence over that of all signals. */
  const named = (name: string): readonly [name: string, value: string] | undefined => {
    for (const full of [`OTEL_EXPORTER_OTLP_${words[signal]}_${name}`, `OTEL_EXPORTER_OTLP_${name}`]) {
      const value = envText(env, full)
      if (value !== undefined) return [full, value]
    }
    return undefined
  }
  const file = (name: string): string | undefined => {
    const found = named(name)
    if (!found) return undefined
    try {
      return world.readFile(found[1])
    } catch (cause) {
      throw new WiretapeError('unreadable', `cannot read ${found[1]}, the file of ${found[0]}`, { cause })
    }
  }
  const ca = file('CERTIFICATE')
  const certificate = file('CLIENT_CERTIFICATE')
  const key = file('CLIENT_KEY')
  return {
    url: urlOf(signal, base, env),
    protocol: protocol ?? oneOf(named('PROTOCOL'), ['http/json', 'http/protobuf'], 'http/json', world),
    headers: pairsOf(named('HEADERS'), world),
    compression: oneOf(named('COMPRESSION'), ['none', 'gzip'], 'none', world),
    timeoutMs: countOf(named('TIMEOUT')?.[0] ?? '', 10_000, world),
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { certificate }),
    ...(key !== undefined && { key }),
  }
}

function urlOf(signal: Signal, base: URL | undefined, env: TelemetryWorld['env']): string {
  const ownName = `OTEL_EXPORTER_OTLP_${words[signal]}_ENDPOINT`
  const own = base ? undefined : envText(env, ownName)
  // The endpoint of one signal is used unchanged.
  if (own !== undefined) return checkedUrl(ownName, own, false).href
  const common = envText(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? defaultEndpoint
  const all = base ?? checkedUrl('OTEL_EXPORTER_OTLP_ENDPOINT', common, false)
  const url = new URL(all)
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/${signal}`
  return url.href
}

/** @throws WiretapeError `usage` */
function checkedUrl(name: string, text: string, onCommandLine: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    const hint = `such as ${defaultEndpoint}${onCommandLine ? ', or env to use OTEL_EXPORTER_OTLP_*' : ''}`
    throw new WiretapeError('usage', `${name} is not an http or https URL`, { hint })
  }
  if (onCommandLine && (url.username !== '' || url.password !== '' || url.search !== ''))
    throw new WiretapeError('usage', `${name} has credentials or a query, which other users could see`, {
      hint: 'put credentials into OTEL_EXPORTER_OTLP_HEADERS',
    })
  return url
}

function temporalityOf(world: TelemetryWorld): TelemetrySettings['temporality'] {
  const name = 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE'
  const value = envText(world.env, name)?.toLowerCase()
  const found = value === undefined ? undefined : ([name, value] as const)
  const preference = oneOf(found, ['cumulative', 'delta', 'lowmemory'], 'cumulative', world)
  return preference === 'cumulative' ? 'cumulative' : 'delta'
}

function resourceOf(world: TelemetryWorld): TelemetrySettings['resource'] {
  const name = 'OTEL_RESOURCE_ATTRIBUTES'
  const value = envText(world.env, name)
  const attributes = new Map(pairsOf(value === undefined ? undefined : [name, value], world))
  const service = envText(world.env, 'OTEL_SERVICE_NAME')
  if (service !== undefined) attributes.set('service.name', service)
  return [...attributes]
}

/** `key=value,key=value` with percent-encoded values, as in W3C Baggage. */
function pairsOf(
  found: readonly [name: string, value: string] | undefined,
  { warn }: TelemetryWorld,
): (readonly [string, string])[] {
  if (!found) return []
  const [name, text] = found
  const pairs: (readonly [string, string])[] = []
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const at = pair.indexOf('=')
    try {
      if (at < 1) throw new Error('no pair')
      pairs.push([
        decodeURIComponent(pair.slice(0, at).trim()),
        decodeURIComponent(pair.slice(at + 1).trim()),
      ])
    } catch {
      // The text itself is not shown, as it may be a secret.
      warn(`a part of ${name} is ignored: it is not key=value`)
    }
  }
  return pairs
}

function oneOf<T extends string>(
  found: readonly [name: string, value: string] | undefined,
  known: readonly T[],
  fallback: T,
  { warn }: TelemetryWorld,
): T {
  if (!found) return fallback
  const [name, value] = found
  const match = known.find((one) => one === value)
  if (match === undefined) warn(`${name} has the unknown value ${value}; using ${fallback}`)
  return match ?? fallback
}

/** A whole number from 1. */
function countOf(name: string, fallback: number, { env, warn }: TelemetryWorld): number {
  const value = envText(env, name)
  if (value === undefined) return fallback
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
  warn(`${name} is not an integer; using ${fallback}`)
  return fallback
}

/** An empty variable counts as unset (OpenTelemetry's own rule). */
function envText(env: TelemetryWorld['env'], name: string): string | undefined {
  const value = env[name]?.trim()
  return value === '' ? undefined : value
}
