import { QueryFault } from '../json-path/index.js'
import type { Diagnostic } from '../model/index.js'
import { compilePathRule } from './path-rule.js'
import { compilePatternRule } from './pattern-rule.js'
import type { CompiledRule } from './redactor.js'
import { mostRules, parseRulesFile } from './rules-file.js'

/** Rules written by a user. */
export interface RuleSources {
  /** The values of `--redact`, in order. */
  readonly patterns?: readonly string[]
  /** Patterns of the policy. */
  readonly policy?: readonly string[]
  /** The file of `--redact-file`. */
  readonly file?: { readonly name: string; readonly text: string }
}

export interface CompiledRules {
  readonly rules: readonly CompiledRule[]
  /** Whether the built-in rules apply as well: false when the file has `"extends": null`. */
  readonly defaults: boolean
  /** If there is any, the rules are not as the user intended. One line each: problem, place, remedy. */
  readonly diagnostics: readonly Diagnostic[]
}

export function compileRules({ patterns = [], policy = [], file }: RuleSources): CompiledRules {
  const rules: CompiledRule[] = []
  const diagnostics: Diagnostic[] = []
  const fail = (message: string): number => diagnostics.push({ severity: 'error', code: 'bad-rule', message })

  if (patterns.length > mostRules)
    fail(`--redact is given ${patterns.length} times; the limit is ${mostRules}`)
  const named = [
    ...patterns.slice(0, mostRules).map((pattern, i) => ({ pattern, name: `--redact #${i + 1}` })),
    ...policy.map((pattern, i) => ({ pattern, name: `policy #${i + 1}` })),
  ]
  for (const { pattern, name } of named) {
    try {
      if (pattern === '') throw new QueryFault('is empty', 'give a pattern')
      rules.push(compilePatternRule(name, pattern, false))
    } catch (problem) {
      fail(inWords(name, problem))
    }
  }
  if (file === undefined) return { rules, defaults: true, diagnostics }

  const parsed = parseRulesFile(file.name, file.text)
  diagnostics.push(...parsed.diagnostics)
  for (const { name, place, at, ...rule } of parsed.rules) {
    try {
      rules.push(
        'path' in rule
          ? compilePathRule(name, rule.path)
          : compilePatternRule(name, rule.regex, rule.ignoreCase),
      )
    } catch (problem) {
      const message = inWords(`${file.name}: ${place}`, problem)
      diagnostics.push({ severity: 'error', code: 'bad-rule', message, at })
    }
  }
  return { rules, defaults: parsed.defaults, diagnostics }
}

/** Only for a fault of the rule; bugs are rethrown. */
function inWords(subject: string, problem: unknown): string {
  if (!(problem instanceof QueryFault)) throw problem
  const { message, advice, column } = problem
  return `${subject} ${message}${column === undefined ? '' : `, column ${column}`}: ${advice}`
}
