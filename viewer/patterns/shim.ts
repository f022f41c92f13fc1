import { loadedEngine } from './loaded.js'

/**
 * Replaces `re2js` in the page. The engine for regular expressions is a third of the whole and rarely needed:
 * it is in a separate script (engine.ts), which page and worker load for the first pattern.
 */
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
    const engine = loadedEngine()
    if (!engine) throw new RE2JSSyntaxException('pattern support is still loading', null)
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
