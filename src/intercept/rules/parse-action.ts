import { compilePath, compilePattern, QueryFault, type CompiledPath } from '../../json-path/index.js'
import { nearestTo } from '../../filter/index.js'
import { durationForms, parseDuration } from '../../model/index.js'
import { findJsonValue, isFault, kindAt, membersOf, onOneLine, longestMessage } from '../../wire/index.js'
import { redactionMark } from '../redaction-mark.js'
import { parseReplacement } from './replacement.js'
import type { ActionKind, RuleAction } from './rule.js'
import type { Node, YamlFile, YamlMember } from '../../yaml/index.js'

export const actionKinds: readonly ActionKind[] = [
  'hold',
  'drop',
  'delay',
  'set',
  'remove',
  'replace',
  'respond',
  'duplicate',
  'disconnect',
]

const longestDelayMs = 3_600_000
const mostCopies = 100

type ReadFile = (name: string) => { readonly text: string } | { readonly problem: string }

/** Parses the value of an action. Undefined, with a diagnostic, if it is invalid. */
export function parseAction(file: YamlFile, member: YamlMember, readFile: ReadFile): RuleAction | undefined {
  const kind = member.name as ActionKind
  const fail = (node: Node | undefined, message: string): undefined => {
    file.fail(node ?? member.key, `${kind}: ${message}`)
  }
  const { value } = member
  switch (kind) {
    case 'hold':
    case 'drop':
    case 'disconnect':
      return file.boolean(value) === true ? { kind } : fail(value, 'expected true')
    case 'delay':
      return parseDelay(file, value, fail)
    case 'duplicate': {
      const copies = file.boolean(value) === true ? 1 : file.number(value)
      if (copies !== undefined && Number.isInteger(copies) && copies >= 1 && copies <= mostCopies)
        return { kind, copies }
      return fail(value, `expected true or the number of extra copies, 1 to ${mostCopies}`)
    }
    case 'set':
      return parseSet(file, value, fail)
    case 'remove':
      return parseRemove(file, value, fail)
    case 'replace':
      return parseReplace(file, value, fail)
    case 'respond':
      return parseRespond(file, value, readFile, fail)
  }
}

/** The marker was copied from a tape and is never meant to be sent. */
function hasMark(text: string): string | undefined {
  if (!text.includes(redactionMark)) return undefined
  return `${redactionMark} replaces a secret on the tape and cannot be sent: give the real value`
}

type Fail = (node: Node | undefined, message: string) => undefined

function parseDelay(file: YamlFile, value: Node | undefined, fail: Fail): RuleAction | undefined {
  const expected = `expected a duration or a range, such as 100ms..500ms, ${durationForms}`
  const number = file.number(value)
  const text = number === undefined ? file.string(value) : String(number)
  const [least = '', most = least, more] = (text ?? '').split('..')
  const leastMs = parseDuration(least.trim())
  const mostMs = parseDuration(most.trim())
  if (more !== undefined || leastMs === undefined || mostMs === undefined) return fail(value, expected)
  if (mostMs < leastMs) return fail(value, 'expected the shorter time first')
  if (mostMs > longestDelayMs) return fail(value, 'expected at most one hour')
  return { kind: 'delay', leastMs, mostMs }
}

function parseSet(file: YamlFile, value: Node | undefined, fail: Fail): RuleAction | undefined {
  const members = value && file.kind(value) === 'object' ? file.members(value) : []
  if (members.length === 0)
    return fail(value, "expected paths and values, such as { '$.params.arguments.query': 'x' }")
  const values = members.flatMap((member) => {
    const path = compile(file, member.key, member.name, fail)
    const text = file.json(member.value)
    const mark = hasMark(text ?? '')
    if (mark !== undefined) return fail(member.value, mark) ?? []
    return path && text !== undefined ? [{ path, text }] : []
  })
  return values.length === members.length ? { kind: 'set', values } : undefined
}

function parseRemove(file: YamlFile, value: Node | undefined, fail: Fail): RuleAction | undefined {
  const nodes = value === undefined ? [] : file.kind(value) === 'array' ? file.elements(value) : [value]
  if (nodes.length === 0) return fail(value, "expected paths, such as ['$.params.arguments.token']")
  const paths = nodes.flatMap((node) => {
    const text = file.string(node)
    if (text === undefined)
      return fail(node, "expected a path in quotes, such as '$.params.arguments.token'") ?? []
    return compile(file, node, text, fail) ?? []
  })
  return paths.length === nodes.length ? { kind: 'remove', paths } : undefined
}

function parseReplace(file: YamlFile, value: Node | undefined, fail: Fail): RuleAction | undefined {
  const known = ['pattern', 'with', 'ignoreCase', 'in']
  if (value === undefined || file.kind(value) !== 'object')
    return fail(value, 'expected { pattern: …, with: … }')
  const members = knownMembers(file, value, known, fail)
  if (!members) return undefined
  const [pattern, replacement, caseMember, place] = known.map((name) => members.get(name))
  const text = file.string(pattern?.value)
  if (text === undefined || text === '') return fail(pattern?.value ?? value, 'expected a pattern in quotes')
  const written = file.string(replacement?.value)
  if (written === undefined)
    return fail(replacement?.value ?? value, 'expected `with` and a string in quotes')
  const ignoreCase = caseMember ? file.boolean(caseMember.value) : false
  if (ignoreCase === undefined) return fail(caseMember!.value, 'ignoreCase: expected true or false')
  const mark = hasMark(written)
  if (mark !== undefined) return fail(replacement!.value, mark)
  const path = place && file.string(place.value)
  if (place && path === undefined) return fail(place.value, 'in: expected a path in quotes')
  const compiledPath = path === undefined ? undefined : compile(file, place!.value!, path, fail)
  if (path !== undefined && !compiledPath) return undefined
  try {
    const compiled = compilePattern(text, ignoreCase)
    const pieces = parseReplacement(written, compiled)
    if (typeof pieces === 'string') return fail(replacement?.value, `with ${pieces}`)
    return {
      kind: 'replace',
      pattern: compiled,
      with: pieces,
      ...(compiledPath && { in: compiledPath }),
    }
  } catch (problem) {
    return failQuery(file, pattern!.value!, problem, 'replace: the pattern')
  }
}

function parseRespond(
  file: YamlFile,
  value: Node | undefined,
  readFile: ReadFile,
  fail: Fail,
): RuleAction | undefined {
  const expected = 'expected { result: … }, { error: { code: -1, message: … } } or { file: … }'
  if (value === undefined || file.kind(value) !== 'object') return fail(value, expected)
  const members = knownMembers(file, value, ['result', 'error', 'file'], fail)
  if (!members) return undefined
  const [member, another] = [...members.values()]
  if (!member || another) return fail(another?.key ?? value, `${expected}, only one of them`)
  if (member.name === 'file') {
    const name = file.string(member.value)
    if (name === undefined || name === '')
      return fail(member.value ?? member.key, 'file: expected the name of a file')
    const read = readFile(name)
    if ('problem' in read) return fail(member.value, `file ${name}: ${read.problem}`)
    const found = answerIn(read.text)
    const mark = typeof found === 'string' ? undefined : hasMark(found.text)
    if (mark !== undefined) return fail(member.value, `file ${name}: ${mark}`)
    return typeof found === 'string'
      ? fail(member.value, `file ${name} ${found}`)
      : { kind: 'respond', ...found }
  }
  const text = file.json(member.value)
  if (text === undefined) return undefined
  const mark = hasMark(text)
  if (mark !== undefined) return fail(member.value, `${member.name}: ${mark}`)
  if (member.name === 'error') {
    const problem = errorProblem(text)
    if (problem !== undefined) return fail(member.value ?? member.key, `error: ${problem}`)
    return { kind: 'respond', member: 'error', text }
  }
  if (kindAt(text, 0) !== 'object')
    return fail(member.value ?? member.key, 'result: expected an object, such as {}')
  return { kind: 'respond', member: 'result', text }
}

/** The `result` or `error` in a file's text; or the problem, in words. */
function answerIn(text: string): { member: 'result' | 'error'; text: string } | string {
  if (text.length > longestMessage) return 'is larger than 64 MB'
  const bare = text.startsWith('\ufeff') ? text.slice(1) : text
  const value = findJsonValue(bare)
  if (isFault(value)) return `is not JSON: ${value.reason} at character ${value.at + 1}`
  if (kindAt(bare, value.start) === 'object') {
    const found = membersOf(bare, value.start).filter(({ name }) => name === 'result' || name === 'error')
    const [member] = found
    if (member && found.length === 1) {
      const json = onOneLine(bare.slice(member.start, member.end))
      const problem = member.name === 'error' ? errorProblem(json) : undefined
      return problem === undefined
        ? { member: member.name as 'result' | 'error', text: json }
        : `: error: ${problem}`
    }
  }
  return 'has no response: expected {"result": …} or {"error": …}'
}

/** JSON-RPC 2.0, section 5.1. */
function errorProblem(text: string): string | undefined {
  const members = kindAt(text, 0) === 'object' ? membersOf(text, 0) : []
  const code = members.find(({ name }) => name === 'code')
  const message = members.find(({ name }) => name === 'message')
  const isCode = code && /^-?\d+$/.test(text.slice(code.start, code.end))
  const isMessage = message && kindAt(text, message.start) === 'string'
  return isCode && isMessage ? undefined : 'expected an integer `code` and a string `message`'
}

function knownMembers(
  file: YamlFile,
  node: Node,
  known: readonly string[],
  fail: Fail,
): Map<string, YamlMember> | undefined {
  const members = new Map(file.members(node).map((member) => [member.name, member]))
  const unknown = [...members.values()].filter(({ name }) => !known.includes(name))
  for (const { name, key } of unknown) {
    const near = nearestTo(name, known)
    fail(
      key,
      `unknown member ${JSON.stringify(name.slice(0, 60))}: ${near === undefined ? `expected ${known.join(', ')}` : `did you mean ${near}?`}`,
    )
  }
  return unknown.length > 0 ? undefined : members
}

function compile(file: YamlFile, node: Node, text: string, fail: Fail): CompiledPath | undefined {
  if (!text.startsWith('$'))
    return fail(
      node,
      `${text.slice(0, 60)} is not a path: expected a path such as '$.params.arguments.query'`,
    )
  try {
    return compilePath(text)
  } catch (problem) {
    return failQuery(file, node, problem, `the path ${text.slice(0, 60)}`)
  }
}

function failQuery(file: YamlFile, node: Node, problem: unknown, what: string): undefined {
  if (!(problem instanceof QueryFault)) throw problem
  const { message, advice, column } = problem
  const { index, exact } = file.within(node, column ?? 1)
  const words = exact || column === undefined ? '' : ` in its column ${column}`
  file.failAt(index, `${what} ${message}${words}: ${advice}`)
}
