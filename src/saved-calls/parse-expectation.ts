import { ignoreRule, levels, matchRule, parseMatcher, standsAlone, type Level } from '../compare/index.js'
import { compilePath, QueryFault, type CompiledPath } from '../json-path/index.js'
import type { StringJson, YamlFile, YamlMember } from '../yaml/index.js'
import type { Expectation, ExpectedPlace } from './saved-call.js'

const expectNames = ['result', 'error', 'fails', 'level', 'ignore', 'match', 'values']

/** Expectation of a call without `expect`. */
export const plainExpectation: Expectation = { fails: false, rules: [], places: [] }

/** Reads `expect`. Problems are reported to the file. */
export function parseExpectation(file: YamlFile, member: YamlMember, fill: StringJson): Expectation {
  if (file.kind(member.value) !== 'object') {
    file.fail(member.value ?? member.key, `expect: expected one or more of ${expectNames.join(', ')}`)
    return plainExpectation
  }
  const members = file.knownMembers(member.value!, expectNames, 'expect')
  const [result, error, fails] = ['result', 'error', 'fails'].map((name) => members.get(name))
  for (const other of [error, fails])
    if (other && (result ?? (other === fails ? error : undefined)))
      file.fail(other.key, `${other.name}: expected one of result, error and fails`)
  for (const whole of [result, error])
    if (whole && file.kind(whole.value) !== 'object')
      file.fail(whole.value ?? whole.key, `${whole.name}: expected a mapping`)
  if (fails && file.boolean(fails.value) !== true) file.fail(fails.value ?? fails.key, 'fails: expected true')
  const whole = result ?? error
  const json = whole && file.json(whole.value, fill)
  const level = levelOf(file, members.get('level'))
  for (const name of ['level', 'ignore']) {
    const extra = members.get(name)
    if (extra && !whole) file.fail(extra.key, `${name}: expected result or error as well, to compare with`)
  }
  const ignored = ignoredPaths(file, members.get('ignore'))
  const values = valuesOf(file, members.get('values'), fill)
  const { rules, places } = matchesOf(file, members.get('match'), values, whole !== undefined)
  return {
    ...(json !== undefined && { answer: `{${JSON.stringify(whole!.name)}:${json}}` }),
    ...(level && { level }),
    fails: fails !== undefined,
    rules: [...ignored, ...rules],
    places: [...[...values.values()].filter(({ matcher }) => !matcher), ...places],
  }
}

function levelOf(file: YamlFile, member: YamlMember | undefined): Level | undefined {
  if (!member) return undefined
  const level = levels.find((known) => known === file.string(member.value))
  if (!level) file.fail(member.value ?? member.key, `level: expected one of ${levels.join(', ')}`)
  return level
}

function ignoredPaths(file: YamlFile, member: YamlMember | undefined): Expectation['rules'] {
  if (!member) return []
  if (file.kind(member.value) !== 'array') {
    file.fail(member.value ?? member.key, 'ignore: expected a list of JSONPaths, each after a `-`')
    return []
  }
  return file.elements(member.value!).flatMap((element) => {
    const path = file.string(element)
    if (path !== undefined) return compiled(file, element, 'ignore', () => ignoreRule(path)) ?? []
    file.fail(element, 'ignore: expected a JSONPath, such as $.result.structuredContent.at')
    return []
  })
}

function valuesOf(
  file: YamlFile,
  member: YamlMember | undefined,
  fill: StringJson,
): Map<string, ExpectedPlace> {
  const places = new Map<string, ExpectedPlace>()
  for (const { name, key, value } of pathsOf(file, member, 'one JSONPath: value per line')) {
    const path = pathOf(file, { name, key, value }, 'values')
    const json = file.json(value, fill)
    if (path && json !== undefined) places.set(name, { path, value: json })
  }
  return places
}

/**
 * Matchers: rules for the comparison with a whole response, or else for the values at their places.
 *
 * @param values loses those that a matcher covers
 */
function matchesOf(
  file: YamlFile,
  member: YamlMember | undefined,
  values: Map<string, ExpectedPlace>,
  hasAnswer: boolean,
): Pick<Expectation, 'rules' | 'places'> {
  const rules: Expectation['rules'][number][] = []
  const places: ExpectedPlace[] = []
  for (const one of pathsOf(file, member, 'one JSONPath: matcher per line')) {
    const text = file.string(one.value)
    if (text === undefined) {
      file.fail(one.value ?? one.key, 'match: expected a matcher, such as timestamp')
      continue
    }
    const path = pathOf(file, one, 'match')
    const matcher = compiled(file, one.value ?? one.key, 'match', () => parseMatcher(text))
    if (!path || !matcher) continue
    const expected = values.get(one.name)
    if (!expected && hasAnswer) {
      rules.push(matchRule(one.name, text))
      continue
    }
    if (!expected && !standsAlone(matcher)) {
      const why = `${text} compares two values: expected result, or a value for this path in values`
      file.fail(one.value ?? one.key, `match: ${why}`)
      continue
    }
    values.delete(one.name)
    places.push({ path, matcher, ...(expected?.value !== undefined && { value: expected.value }) })
  }
  return { rules, places }
}

function pathsOf(file: YamlFile, member: YamlMember | undefined, expected: string): YamlMember[] {
  if (!member) return []
  if (file.kind(member.value) === 'object') return file.members(member.value!)
  file.fail(member.value ?? member.key, `${member.name}: expected ${expected}`)
  return []
}

function pathOf(file: YamlFile, { name, key }: YamlMember, owner: string): CompiledPath | undefined {
  return compiled(file, key, owner, () => compilePath(name, '$.result.content[0].text'))
}

function compiled<T>(
  file: YamlFile,
  node: Parameters<YamlFile['fail']>[0],
  owner: string,
  make: () => T,
): T | undefined {
  try {
    return make()
  } catch (problem) {
    if (!(problem instanceof QueryFault)) throw problem
    file.fail(node, `${owner}: it ${problem.message}: ${problem.advice}`)
    return undefined
  }
}
