import type * as findings from '../../src/findings/index.js'

/** What the second script brings: the engine for patterns, and the rules of findings. */
export interface Engine {
  readonly RE2JS: { compile(pattern: string, flags: number): unknown; readonly CASE_INSENSITIVE: number }
  readonly RE2JSException: new () => Error
  readonly RE2JSSyntaxException: new () => Error & { readonly error: string; readonly input: string | null }
  readonly findings: Pick<
    typeof findings,
    | 'createCostTable'
    | 'createFindings'
    | 'estimateTokens'
    | 'estimator'
    | 'findingsByRow'
    | 'hashOf'
    | 'rules'
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
