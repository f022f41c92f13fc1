import type { CompiledRules, RuleSources } from './compile-rules.js'
import { packTables, unpackTables } from './literal-tables.js'
import { prepareTriggers, triggers } from './trigger.js'
import { anchors, prepareValuePatterns } from './value-patterns.js'

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
 * Compiles a user's rules. Never throws on bad input: problems are in `diagnostics`, and nothing should be
 * recorded then. Loads the engines for patterns and paths, which the built-in rules do not need.
 */
export async function compileRules(sources: RuleSources): Promise<CompiledRules> {
  const { compileRules } = await import('./compile-rules.js')
  return compileRules(sources)
}

/**
 * The tables of the built-in rules as bytes, for `prepareRedaction`: a build writes them beside the program, since a
 * recorder would need 20 to 100 ms to make them.
 */
export function redactionTables(): Uint8Array {
  const [first, second] = [packTables(triggers), packTables(anchors)]
  const bytes = new Uint8Array(4 + first.length + second.length)
  new DataView(bytes.buffer).setUint32(0, first.length)
  bytes.set(first, 4)
  bytes.set(second, 4 + first.length)
  return bytes
}

/**
 * Creates the tables in advance, so that the first text need not wait for them.
 *
 * @param tables from `redactionTables`; the tables are made now if they are missing, damaged or of other rules
 */
export function prepareRedaction(tables?: Uint8Array): void {
  const end =
    tables && tables.length >= 4 ? 4 + new DataView(tables.buffer, tables.byteOffset).getUint32(0) : 4
  prepareTriggers(tables && unpackTables(triggers, tables.subarray(4, end)))
  prepareValuePatterns(tables && unpackTables(anchors, tables.subarray(end)))
}
