import type parsePath from 'jsonpath-rfc9535/parser'
import type * as compare from '../../src/compare/index.js'
import { WiretapeError } from '../../src/model/index.js'
import type * as findings from '../../src/findings/index.js'

/** What the second script brings: the engine for patterns and paths, the rules of findings, what explains a call, and what compares recordings. */
export interface Engine {
  readonly RE2JS: { compile(pattern: string, flags: number): unknown; readonly CASE_INSENSITIVE: number }
  readonly RE2JSException: new () => Error
  readonly RE2JSSyntaxException: new () => Error & { readonly error: string; readonly input: string | null }
  readonly parsePath: typeof parsePath
  readonly findings: Pick<
    typeof findings,
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
    'compareOffers' | 'compareRecordings' | 'createOffers' | 'createRecordingIndex' | 'plainSettings'
  >
}

interface Scope {
  wiretapePatterns?: Engine
  /** Of the page: begins to load it, once; what is typed is looked at again when it is there. */
  loadWiretapePatterns?(): void
  /** Of a worker: loads at once. */
  importScripts?(url: string): void
}

const scope = globalThis as unknown as Scope

/** In a worker it is always there; in the page undefined until it has arrived, which this call begins. */
export function loadedEngine(): Engine | undefined {
  // A worker from a blob has no address; it was given the engine.
  if (!scope.wiretapePatterns && scope.importScripts && location.protocol !== 'blob:')
    scope.importScripts(new URL('./patterns.js', location.href).href)
  if (!scope.wiretapePatterns) scope.loadWiretapePatterns?.()
  return scope.wiretapePatterns
}

/** What compares recordings. Of a worker, where it is always there. */
export function comparing(): Engine['comparing'] {
  const engine = loadedEngine()
  if (!engine) throw new WiretapeError('usage', 'nothing can be compared: patterns.js did not arrive')
  return engine.comparing
}
