import { WiretapeError } from '../model/index.js'
import { compileRules, Redactor, literalRule, type RuleSources } from '../redaction/index.js'
import { createTagger } from '../tape/index.js'

/** Settings of redaction. Can be posted to another thread, which derives the same rules. */
export interface Redaction extends RuleSources {
  /** Whether to use the built-in rules; a rules file can turn them off as well. */
  readonly defaults: boolean
  /** Keeps the built-in rules whatever a rules file says. */
  readonly keepDefaults?: boolean
  /** Known secrets, for the built-in rules. */
  readonly secrets?: readonly string[]
  /** Key of the tags of secrets: 32 bytes as hexadecimal digits. @default a separate key for each redactor */
  readonly tagKey?: string
}

/** Whether a redactor needs rules that must be compiled, which takes 50 ms or more. */
export function hasOwnRules({ patterns, policy, file }: Redaction): boolean {
  return Boolean(patterns?.length || policy?.length || file)
}

/** Shorter secrets would also match unrelated text. */
const shortestSecret = 6

/**
 * The redactor of one run. Tags of different redactors are unrelated, unless they share a key.
 *
 * @throws WiretapeError `usage` for an invalid rule
 */
export async function createRunRedactor(redaction: Redaction): Promise<Redactor> {
  const tag = createTagger(redaction.tagKey)
  const { defaults, patterns, policy, file, keepDefaults = false, secrets = [] } = redaction
  const known = secrets
    .filter((secret) => secret.length >= shortestSecret)
    .map((secret) => literalRule('header-value', secret))
  if (!hasOwnRules(redaction)) return new Redactor({ defaults, rules: defaults ? known : [], tag })
  const compiled = await compileRules({
    ...(patterns && { patterns }),
    ...(policy && { policy }),
    ...(file && { file }),
  })
  const [first, ...others] = compiled.diagnostics
  if (first) {
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    const { line, column } = first.at ?? {}
    const place =
      line === undefined ? '' : `, line ${line}${column === undefined ? '' : `, column ${column}`}`
    throw new WiretapeError('usage', `${first.message}${place}${more}`)
  }
  const builtIn = defaults && (compiled.defaults || keepDefaults)
  return new Redactor({ defaults: builtIn, rules: [...compiled.rules, ...(builtIn ? known : [])], tag })
}
