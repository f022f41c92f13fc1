import { packBoth } from './built-tables.js'
import type { CompiledRules, RuleSources } from './compile-rules.js'
import { prepareTriggers, triggers } from './trigger.js'
import { anchors, prepareValuePatterns } from './value-patterns.js'

export { useRedactionTables } from './built-tables.js'
export type { RuleSources } from './compile-rules.js'
export type { RedactedJson } from './json-redactor.js'
export { literalRule } from './literal-rule.js'
export { marker as redactionMarker } from './marker.js'
export { restoreEdits } from './restore.js'
export { secretVariable } from './secret-variable.js'
export { Redactor } from './redactor.js'

/**
 * Compiles a user's rules. Never throws on bad input: problems are in `diagnostics`, and nothing should be
 * recorded then. Loads the engines for patterns and paths, which the built-in rules do not need.
 */
export async function compileRules(sources: RuleSources): Promise<CompiledRules> {
  const { compileRules } = await import('./compile-rules.js')
  return compileRules(sources)
}

/**
 * The tables of the built-in rules as bytes, for `useRedactionTables`: a build writes them beside the program, since a
 * recorder would need 20 to 100 ms to make them.
 */
export function redactionTables(): Uint8Array {
  return packBoth(triggers, anchors)
}

/** Creates the tables in advance, so that the first text need not wait for them. */
export function prepareRedaction(): void {
  prepareTriggers()
  prepareValuePatterns()
}
