import { WiretapeError } from '../model/index.js'
import {
  compileRules,
  createRedactor,
  literalRule,
  type Redactor,
  type RuleSources,
} from '../redaction/index.js'
import { createTagger } from '../tape/index.js'

/** What to redact. Can be posted to another thread, which makes the same rules of it. */
export interface Redaction extends RuleSources {
  /** The built-in rules; a rules file can do without them too. */
  readonly defaults: boolean
  /** The built-in rules hold whatever a rules file says. */
  readonly keepDefaults?: boolean
  /** What is known to be a secret, for the built-in rules. */
  readonly secrets?: readonly string[]
  /** 32 bytes as hexadecimal digits, under which secrets get their tags. @default one of its own for each redactor */
  readonly tagKey?: string
}

/** Shorter ones are found where they mean something else. */
const shortestSecret = 6

/**
 * The redactor of one run. Tags of different redactors have nothing in common, unless they are given one key.
 *
 * @throws WiretapeError `usage` for a rule that makes no sense
 */
export async function createRunRedactor(redaction: Redaction): Promise<Redactor> {
  const tag = createTagger(redaction.tagKey)
  const { defaults, patterns, policy, file, keepDefaults = false, secrets = [] } = redaction
  const known = secrets
    .filter((secret) => secret.length >= shortestSecret)
    .map((secret) => literalRule('header-value', secret))
  if (!patterns?.length && !policy?.length && !file)
    return createRedactor({ defaults, rules: defaults ? known : [], tag })
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
  return createRedactor({ defaults: builtIn, rules: [...compiled.rules, ...(builtIn ? known : [])], tag })
}
