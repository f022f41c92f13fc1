import { compilePath, QueryFault, type CompiledPath } from '../json-path/index.js'
import { parseMatcher, type Matcher } from './matcher.js'

/** How strictly responses are compared. */
export type Level =
  /** Character by character, except for ids. */
  | 'exact'
  /** By meaning: numbers by value, members in any order, JSON in texts as JSON, rules applied. */
  | 'semantic'
  /** By shape: types of values and names of members; results are validated against `outputSchema`. */
  | 'schema'

export const levels: readonly Level[] = ['exact', 'semantic', 'schema']

/** An allowed difference. */
export interface CompareRule {
  /** From the root of the response: `$.result.structuredContent.time`. */
  readonly path: CompiledPath
  /** Absent: neither the value nor its presence counts. */
  readonly matcher?: Matcher
  /** Applies only to responses to these requests. */
  readonly only?: Only
}

/** A filter on requests; an absent member matches all. */
export interface Only {
  readonly method?: string
  /** Tool or prompt name, resource URI. */
  readonly name?: string
}

/** A rules file in use, and its effect. */
export interface RulesInForce {
  /** Name in reports. */
  readonly name: string
  /** Settings for a comparison without the file. */
  readonly without: Omit<CompareSettings, 'file'>
  /** Number of differences it has hidden so far. */
  hidden: number
}

/** Settings of a comparison. */
export interface CompareSettings {
  /** @default 'semantic' */
  readonly level: Level
  readonly rules: readonly CompareRule[]
  /** False: generated values count too. @default true */
  readonly varying?: boolean
  readonly file?: RulesInForce
}

export const plainSettings: CompareSettings = { level: 'semantic', rules: [] }

/** Paths of responses start at the message. */
const exampleOfAnswers = '$.result.structuredContent.time'

/**
 * `--ignore`.
 *
 * @throws QueryFault
 */
export function ignoreRule(path: string, only?: Only): CompareRule {
  return { path: compilePath(path, exampleOfAnswers), ...(only && { only }) }
}

/**
 * `--match`, as path and matcher.
 *
 * @throws QueryFault
 */
export function matchRule(path: string, matcher: string, only?: Only): CompareRule {
  return { path: compilePath(path, exampleOfAnswers), matcher: parseMatcher(matcher), ...(only && { only }) }
}

/**
 * Parses `<JSONPath>=<matcher>`. A path may contain `=`: the last one before a valid matcher counts.
 *
 * @throws QueryFault
 */
export function parseMatchRule(text: string): CompareRule {
  const pattern = /^(.*?)=(\/.*\/)$/s.exec(text)
  if (pattern) {
    try {
      return matchRule(pattern[1]!, pattern[2]!)
    } catch (problem) {
      if (!(problem instanceof QueryFault)) throw problem
    }
  }
  const cut = text.lastIndexOf('=')
  if (cut <= 0)
    throw new QueryFault(`has no matcher: ${text}`, 'use <JSONPath>=<matcher>, such as $.result.at=timestamp')
  return matchRule(text.slice(0, cut), text.slice(cut + 1))
}

/** The rules for the response to one request. */
export function rulesFor(
  settings: CompareSettings,
  method: string,
  name: string | undefined,
): readonly CompareRule[] {
  return settings.rules.filter(
    ({ only }) =>
      (only?.method === undefined || only.method === method) &&
      (only?.name === undefined || only.name === name),
  )
}

/** Adds a file's rules to those of the command line, and keeps the settings without it. */
export function withFile(
  given: {
    readonly level: Level | undefined
    readonly rules: readonly CompareRule[]
    readonly varying?: boolean
  },
  file: { readonly name: string; readonly level?: Level; readonly rules: readonly CompareRule[] } | undefined,
): CompareSettings {
  const varying = given.varying === false ? { varying: false } : {}
  const without = { level: given.level ?? plainSettings.level, rules: given.rules, ...varying }
  if (!file) return without
  return {
    level: given.level ?? file.level ?? plainSettings.level,
    rules: [...file.rules, ...given.rules],
    ...varying,
    file: { name: file.name, without, hidden: 0 },
  }
}

/** A report names the rules file, since another person may have created it. */
export function fileNotes({ file }: CompareSettings): string[] {
  if (!file) return []
  const { name, hidden } = file
  const what = hidden === 0 ? 'no difference' : hidden === 1 ? '1 difference' : `${hidden} differences`
  return [`the rules of ${name} hid ${what}; --no-compare-file compares without them`]
}

/** The same for machine-readable output. */
export function fileMember({ file }: CompareSettings): {
  readonly compareFile?: { readonly name: string; readonly hidden: number }
} {
  return file ? { compareFile: { name: file.name, hidden: file.hidden } } : {}
}
