/**
 * Stands for `re2js` in the page. The engine for regular expressions is a third of the whole and is asked for by few:
 * it is a script of its own (engine.ts), which page and worker load when the first pattern comes.
 */
interface Engine {
  readonly RE2JS: { compile(pattern: string, flags: number): unknown; readonly CASE_INSENSITIVE: number }
  readonly RE2JSException: new () => Error
  readonly RE2JSSyntaxException: new () => Error & { readonly error: string; readonly input: string | null }
}

interface Scope {
  wiretapePatterns?: Engine
  /** Of the page: begins to load it, once; what is typed is looked at again when it is there. */
  loadWiretapePatterns?(): void
  /** Of a worker: loads at once. */
  importScripts?(url: string): void
}

const scope = globalThis as unknown as Scope

export class RE2JSException extends Error {}

export class RE2JSSyntaxException extends RE2JSException {
  readonly error: string
  readonly input: string | null
  constructor(error: string, input: string | null) {
    super(error)
    this.error = error
    this.input = input
  }
}

export const RE2JS = {
  CASE_INSENSITIVE: 1,
  compile(pattern: string, flags: number): unknown {
    const engine = loaded()
    if (!engine) throw new RE2JSSyntaxException('the engine for patterns is still being loaded', null)
    try {
      return engine.RE2JS.compile(pattern, flags === 0 ? 0 : engine.RE2JS.CASE_INSENSITIVE)
    } catch (problem) {
      if (problem instanceof engine.RE2JSSyntaxException) {
        throw new RE2JSSyntaxException(problem.error, problem.input)
      }
      if (problem instanceof engine.RE2JSException) throw new RE2JSException(problem.message)
      throw problem
    }
  },
}

function loaded(): Engine | undefined {
  // A worker from a blob has no address; it was given the engine.
  if (!scope.wiretapePatterns && scope.importScripts && location.protocol !== 'blob:')
    scope.importScripts(new URL('./patterns.js', location.href).href)
  if (!scope.wiretapePatterns) scope.loadWiretapePatterns?.()
  return scope.wiretapePatterns
}
