/** The used parts of OTLP, as values: the encoders of JSON and protobuf turn the same values into bytes. */

/** Numbers are integers. */
export type Attribute = readonly [key: string, value: string | number | boolean]
export type Attributes = readonly Attribute[]

/** Source of the telemetry. */
export interface Resource {
  readonly attributes: Attributes
  /** Version of the scope `wiretape`, if known. */
  readonly version: string | undefined
}

export interface Span {
  /** Hexadecimal digits, like the other ids. */
  readonly traceId: string
  readonly spanId: string
  readonly parent?: TraceParent
  readonly name: string
  readonly kind: 'server' | 'client'
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: Attributes
  /** Present when the operation failed; empty without a message. */
  readonly error?: string
}

/** The parent of a span, taken from a message (W3C Trace Context, in `params._meta` by SEP-414). */
export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  /** The 8 bits of `trace-flags`. */
  readonly flags: number
  readonly state: string | undefined
}

export type Temporality = 'delta' | 'cumulative'

interface Point {
  readonly attributes: Attributes
  readonly startNs: bigint
  readonly timeNs: bigint
}

export interface HistogramPoint extends Point {
  readonly count: number
  readonly sum: number
  /** One more element than bounds. */
  readonly buckets: readonly number[]
}

export interface NumberPoint extends Point {
  readonly value: number
}

interface Named {
  readonly name: string
  /** UCUM unit. */
  readonly unit: string
  readonly description: string
}

export type Metric =
  | (Named & {
      readonly kind: 'histogram'
      readonly temporality: Temporality
      /** Upper bounds of the buckets. */
      readonly bounds: readonly number[]
      readonly points: readonly HistogramPoint[]
    })
  | (Named & {
      /** A counter. */
      readonly kind: 'sum'
      readonly temporality: Temporality
      readonly points: readonly NumberPoint[]
    })
  | (Named & { readonly kind: 'gauge'; readonly points: readonly NumberPoint[] })

/** Maximum length of names, URIs and messages of peers; longer ones are truncated. */
const longestText = 4096
const longestName = 256

/** Text of a peer: truncated, and without lone surrogates, which UTF-8 and strict JSON readers reject. */
export function boundedText(text: string, most = longestText): string {
  const cut = text.length <= most ? text : text.slice(0, most)
  return cut.replaceAll(/\p{Surrogate}/gu, '\ufffd')
}

/** Text for the name of a metric series, or of a span. */
export function boundedName(text: string): string {
  return boundedText(text, longestName)
}
