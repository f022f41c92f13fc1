import { LineCounter, parseDocument, type ParsedNode } from 'yaml'
import { QueryFault } from '../json-path/index.js'
import { ignoreRule, levels, matchRule, type CompareRule, type Level, type Only } from './settings.js'

/** Content of a `compare.yaml`. */
export interface SettingsFile {
  readonly level?: Level
  readonly rules: readonly CompareRule[]
}

/** Why a `compare.yaml` cannot be used. */
export interface SettingsFault {
  readonly message: string
  readonly hint?: string
  /** 1-based. */
  readonly line?: number
}

const longestFile = 1024 * 1024
const knownMembers = ['level', 'ignore', 'match', 'calls'] as const
const callMembers = ['method', 'name', 'ignore', 'match'] as const

/** Thrown internally, returned to callers. */
class Fault extends Error {
  readonly fault: SettingsFault
  constructor(fault: SettingsFault) {
    super(fault.message)
    this.fault = fault
  }
}

/** Parses the rules next to a recording (docs/diff.md). */
export function parseSettingsFile(text: string): SettingsFile | { readonly fault: SettingsFault } {
  if (text.length > longestFile) return { fault: { message: 'is larger than 1 MiB' } }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const [error] = document.errors
  if (error) return { fault: { message: error.message, line: lines.linePos(error.pos[0]).line } }

  /** Line of the node at a path, or of its nearest existing parent. */
  function lineOf(path: readonly (string | number)[]): number | undefined {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true) as ParsedNode | undefined
      if (node && typeof node === 'object' && 'range' in node && node.range)
        return lines.linePos(node.range[0]).line
    }
    return undefined
  }
  function refuse(path: readonly (string | number)[], message: string, hint?: string): never {
    const line = lineOf(path)
    throw new Fault({ message, ...(hint !== undefined && { hint }), ...(line !== undefined && { line }) })
  }
  const reader: Reader = { refuse }
  try {
    const content: unknown = document.toJS({ maxAliasCount: 0 })
    if (content === null || content === undefined) return { rules: [] }
    const file = mapOf(content, [], knownMembers, reader)
    const level = levelOf(file['level'], reader)
    const calls = listOf(file['calls'], ['calls'], reader).flatMap((call, i) => {
      const at = ['calls', i]
      const members = mapOf(call, at, callMembers, reader)
      const only: Only = {
        ...(members['method'] !== undefined && {
          method: settingText(members['method'], [...at, 'method'], reader),
        }),
        ...(members['name'] !== undefined && { name: settingText(members['name'], [...at, 'name'], reader) }),
      }
      return rulesOf(members, at, reader, only)
    })
    return { ...(level && { level }), rules: [...rulesOf(file, [], reader), ...calls] }
  } catch (problem) {
    if (problem instanceof Fault) return { fault: problem.fault }
    if (problem instanceof ReferenceError) return { fault: { message: problem.message } }
    throw problem
  }
}

interface Reader {
  refuse(path: readonly (string | number)[], message: string, hint?: string): never
}

type Members = { readonly [name: string]: unknown }

function rulesOf(
  members: Members,
  at: readonly (string | number)[],
  reader: Reader,
  only?: Only,
): CompareRule[] {
  const ignored = listOf(members['ignore'], [...at, 'ignore'], reader).map((path, i) =>
    compiled([...at, 'ignore', i], String(path), reader, () =>
      ignoreRule(settingText(path, [...at, 'ignore', i], reader), only),
    ),
  )
  const { match } = members
  if (match === undefined || match === null) return ignored
  if (typeof match !== 'object' || Array.isArray(match))
    reader.refuse([...at, 'match'], 'match must be a mapping', 'write one JSONPath: matcher per line')
  const matched = Object.entries(match).map(([path, matcher]) => {
    const place = [...at, 'match', path]
    return compiled(place, path, reader, () => matchRule(path, settingText(matcher, place, reader), only))
  })
  return [...ignored, ...matched]
}

/** @param name as written by the user */
function compiled(
  path: readonly (string | number)[],
  name: string,
  reader: Reader,
  make: () => CompareRule,
): CompareRule {
  try {
    return make()
  } catch (problem) {
    if (!(problem instanceof QueryFault)) throw problem
    return reader.refuse(path, `${name} ${problem.message}`, problem.advice)
  }
}

function levelOf(value: unknown, reader: Reader): Level | undefined {
  if (value === undefined) return undefined
  const level = levels.find((known) => known === value)
  return (
    level ?? reader.refuse(['level'], `unknown level ${shown(value)}`, `known levels: ${levels.join(', ')}`)
  )
}

function mapOf(
  value: unknown,
  path: readonly (string | number)[],
  known: readonly string[],
  reader: Reader,
): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return reader.refuse(path, `${subjectOf(path)} must be a mapping`, `known members: ${known.join(', ')}`)
  for (const name of Object.keys(value)) {
    if (!known.includes(name))
      reader.refuse([...path, name], `unknown member ${name}`, `known members: ${known.join(', ')}`)
  }
  return value as Members
}

function listOf(value: unknown, path: readonly (string | number)[], reader: Reader): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value)
    ? value
    : reader.refuse(path, `${subjectOf(path)} must be a list`, 'begin each line with -')
}

function settingText(value: unknown, path: readonly (string | number)[], reader: Reader): string {
  return typeof value === 'string'
    ? value
    : reader.refuse(path, `${subjectOf(path)} must be a string`, 'put it in quotes')
}

/** Name of the node at a path: `the file`, `level`, `entry 2 of ignore`. */
function subjectOf(path: readonly (string | number)[]): string {
  const [list, last] = [path.at(-2), path.at(-1)]
  if (last === undefined) return 'the file'
  return typeof last === 'number' ? `entry ${last + 1} of ${String(list)}` : last
}

/** A value in one line. */
function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`
}
