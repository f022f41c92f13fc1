import type parsePath from 'jsonpath-rfc9535/parser'
import type * as compare from '../../src/compare/index.js'
import { WiretapeError } from '../../src/model/index.js'
import type * as formats from '../../src/formats/index.js'
import type * as findings from '../../src/findings/index.js'

/** Exports of the second script: patterns and paths, rules of findings, explanations, comparisons, further formats. */
export interface Engine {
  readonly RE2JS: { compile(pattern: string, flags: number): unknown; readonly CASE_INSENSITIVE: number }
  readonly RE2JSException: new () => Error
  readonly RE2JSSyntaxException: new () => Error & { readonly error: string; readonly input: string | null }
  readonly parsePath: typeof parsePath
  readonly formats: Pick<typeof formats, 'detectFormat' | 'formats' | 'htmlReport'>
  readonly findings: Pick<
    typeof findings,
    | 'costKey'
    | 'createCallCollector'
    | 'createCostTable'
    | 'createFindings'
    | 'estimateTokens'
    | 'estimator'
    | 'findingsByRow'
    | 'hashOf'
    | 'rules'
    | 'tellCall'
  >
  readonly comparing: Pick<
    typeof compare,
    'compareOfferVersions' | 'RecordingComparison' | 'createOffers' | 'createRecordingIndex' | 'plainSettings'
  >
}

interface Scope {
  wiretapePatterns?: Engine
  /** In the page: starts loading, once. Typed filters are parsed again when it has loaded. */
  loadWiretapePatterns?(): void
  /** In a worker: loads synchronously. */
  importScripts?(url: string): void
}

const scope = globalThis as unknown as Scope

/** In a worker always defined. In the page undefined until loaded; this call starts loading. */
export function loadedEngine(): Engine | undefined {
  // A worker from a blob has no URL; it received the engine with its script.
  if (!scope.wiretapePatterns && scope.importScripts && location.protocol !== 'blob:')
    scope.importScripts(new URL('./patterns.js', location.href).href)
  if (!scope.wiretapePatterns) scope.loadWiretapePatterns?.()
  return scope.wiretapePatterns
}

/** The comparison of recordings. For a worker, where it is always defined. */
export function comparing(): Engine['comparing'] {
  const engine = loadedEngine()
  if (!engine) throw new WiretapeError('usage', 'cannot compare: patterns.js could not be loaded')
  return engine.comparing
}

/** All formats besides tapes. For a worker, where they are always defined. */
export function furtherFormats(): Engine['formats'] {
  const engine = loadedEngine()
  if (!engine) throw new WiretapeError('usage', 'this format needs patterns.js, which could not be loaded')
  return engine.formats
}
