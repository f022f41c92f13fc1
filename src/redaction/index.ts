import type { CompiledRules, RuleSources } from './compile-rules.js'
import { prepareTriggers } from './trigger.js'
import { findValuePatterns } from './value-patterns.js'

export type { CompiledRules, RuleSources } from './compile-rules.js'
export type { RedactedJson } from './json-redactor.js'
export { literalRule } from './literal-rule.js'
export { marker as redactionMarker } from './marker.js'
export { restoreEdits } from './restore.js'
export { secretVariable } from './secret-variable.js'
export {
  createRedactor,
  type CompiledRule,
  type RedactionReport,
  type Redactor,
  type RedactorOptions,
} from './redactor.js'

/**
 * Makes rules of what a user wrote. Never throws on bad input: what is wrong is in `diagnostics`, and then nothing
 * should be recorded. Loads the engines for patterns and paths, which the built-in rules do without.
 */
export async function compileRules(sources: RuleSources): Promise<CompiledRules> {
  const { compileRules } = await import('./compile-rules.js')
  return compileRules(sources)
}

/** Makes the tables that the first text would wait for. */
export function prepareRedaction(): void {
  prepareTriggers()
  findValuePatterns(' ', 1, [])
}
