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

/** How recordings are compared. */
export interface CompareSettings {
  /** @default 'semantic' */
  readonly level: Level
  readonly rules: readonly CompareRule[]
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
