import { compilePath, QueryFault, type CompiledPath } from '../json-path/index.js'
import { parseMatcher, type Matcher } from './matcher.js'

/** How closely answers have to agree. */
export type Level =
  /** To the letter, ids apart. */
  | 'exact'
  /** In what they mean: numbers by value, members in any order, JSON in texts as JSON, rules applied. */
  | 'semantic'
  /** In their shape: kinds of values and names of members; results are held against `outputSchema`. */
  | 'schema'

export const levels: readonly Level[] = ['exact', 'semantic', 'schema']

/** Something that may differ. */
export interface CompareRule {
  /** From the root of the answer: `$.result.structuredContent.time`. */
  readonly path: CompiledPath
  /** Absent: the value does not count at all, neither does its presence. */
  readonly matcher?: Matcher
  /** Only for answers to these requests. */
  readonly only?: Only
}

/** Requests by what they are; a member that is absent fits all. */
export interface Only {
  readonly method?: string
  /** Tool or prompt name, resource URI. */
  readonly name?: string
}

/** A file of rules that takes part in a comparison, and what it does there. */
export interface RulesInForce {
  /** As reports call it. */
  readonly name: string
  /** How recordings would be compared without it. */
  readonly without: Omit<CompareSettings, 'file'>
  /** Differences that do not count because of it, so far. */
  hidden: number
}

/** How recordings are compared. */
export interface CompareSettings {
  /** @default 'semantic' */
  readonly level: Level
  readonly rules: readonly CompareRule[]
  /** False: what every run makes anew counts too. @default true */
  readonly varying?: boolean
  readonly file?: RulesInForce
}

export const plainSettings: CompareSettings = { level: 'semantic', rules: [] }

/** The places of answers begin at the message. */
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
 * `<JSONPath>=<matcher>`. A path may hold `=` itself, so the last one that a matcher follows counts.
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
    throw new QueryFault(
      `has no matcher: ${text}`,
      'write <JSONPath>=<matcher>, such as $.result.at=timestamp',
    )
  return matchRule(text.slice(0, cut), text.slice(cut + 1))
}

/** The rules for the answer to one request. */
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

/** Adds the rules of a file to those of the command line, and remembers how it would be without. */
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

/** What a report says of the file: it may have been put there by somebody else. */
export function fileNotes({ file }: CompareSettings): string[] {
  if (!file) return []
  const { name, hidden } = file
  const what = hidden === 0 ? 'no difference' : hidden === 1 ? '1 difference' : `${hidden} differences`
  return [`the rules of ${name} hid ${what}; --no-compare-file compares without them`]
}

/** The same as a member of machine output. */
export function fileMember({ file }: CompareSettings): {
  readonly compareFile?: { readonly name: string; readonly hidden: number }
} {
  return file ? { compareFile: { name: file.name, hidden: file.hidden } } : {}
}
