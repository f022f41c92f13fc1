import type { Diagnostic } from '../model/index.js'
import { YamlFile, type Node, type StringJson, type YamlMember } from '../yaml/index.js'
import { parseExpectation, plainExpectation } from './parse-expectation.js'
import { parseServer } from './parse-server.js'
import type { SavedCall, SavedServer } from './saved-call.js'
import {
  fillText,
  isVariableName,
  type Lookup,
  type UsedVariables,
  type VariableSources,
} from './variables.js'

export interface SavedCallsReading {
  readonly calls: readonly SavedCall[]
  /** In file order. With any, no call must be made. */
  readonly diagnostics: readonly Diagnostic[]
  /** Of the file, and those it uses without a value. */
  readonly variables: readonly FileVariable[]
}

export interface FileVariable {
  readonly name: string
  /** Exact JSON text in the file; undefined without a value there. */
  readonly json?: string
  /** The value contains environment variables and must not be displayed. */
  readonly isSecret: boolean
}

const code = 'bad-saved-calls'
const longestFile = 1024 * 1024
const mostCalls = 1_000
const longestName = 200
const topNames = ['server', 'variables', 'calls']
const callNames = ['name', 'server', 'request', 'expect']
const requestNames = ['tool', 'arguments', 'method', 'params']

/**
 * Reads a file of saved calls (docs/saved-calls.md) and fills in its variables. Never throws on bad input.
 *
 * @param used collects the values filled in
 */
export function parseSavedCalls(
  text: string,
  sources: VariableSources,
  used: UsedVariables,
): SavedCallsReading {
  if (text.length > longestFile) {
    const message = 'is larger than 1 MB: split it into several files'
    return { calls: [], diagnostics: [{ severity: 'error', code, message }], variables: [] }
  }
  const file = new YamlFile(text.startsWith('\ufeff') ? text.slice(1) : text, { code })
  const reading = new Reading(file, sources, used)
  if (file.diagnostics.length === 0) reading.file()
  // One diagnostic per place: a second one follows from the first.
  const places = new Set<string>()
  const diagnostics = file.diagnostics
    .filter(({ at }) => places.size < places.add(`${at?.line}:${at?.column}`).size)
    .toSorted((a, b) => (a.at?.line ?? 0) - (b.at?.line ?? 0) || (a.at?.column ?? 0) - (b.at?.column ?? 0))
  const calls = diagnostics.length > 0 ? [] : reading.calls
  return { calls, diagnostics, variables: [...reading.variables.values()] }
}

class Reading {
  readonly calls: SavedCall[] = []
  readonly variables = new Map<string, FileVariable>()
  readonly #file: YamlFile
  readonly #sources: VariableSources
  readonly #used: UsedVariables
  /** Variables of the file: exact JSON text. */
  readonly #variables = new Map<string, string>()

  constructor(file: YamlFile, sources: VariableSources, used: UsedVariables) {
    this.#file = file
    this.#sources = sources
    this.#used = used
  }

  file(): void {
    const file = this.#file
    const { top } = file
    if (top === undefined || file.kind(top) !== 'object')
      return file.fail(top, 'expected `calls:` and a list of calls')
    const members = file.knownMembers(top, topNames, 'the file')
    this.#readVariables(members.get('variables'))
    const shared = members.get('server')
    const server = shared && parseServer(file, shared, this.#fill)
    const list = members.get('calls')
    if (!list || file.kind(list.value) !== 'array')
      return file.fail(list?.value ?? list?.key ?? top, 'expected `calls:` and a list, each call after a `-`')
    const elements = file.elements(list.value!)
    if (elements.length === 0) file.fail(list.value, 'calls: expected at least one call')
    if (elements.length > mostCalls)
      file.fail(elements[mostCalls], `more than ${mostCalls} calls: split them into several files`)
    for (const [i, element] of elements.slice(0, mostCalls).entries()) this.#call(element, i, server)
  }

  #readVariables(member: YamlMember | undefined): void {
    const file = this.#file
    if (!member) return
    if (file.kind(member.value) !== 'object')
      return file.fail(member.value ?? member.key, 'variables: expected one name: value per line')
    // Variables must not refer to variables: cycles would be possible.
    let isSecret = false
    const environment = (name: string): string | undefined => {
      isSecret = true
      return this.#lookup.environment(name)
    }
    const fill = this.#filling({ environment, variable: () => undefined })
    for (const { name, key, value } of file.members(member.value!)) {
      if (!isVariableName(name)) file.fail(key, 'variables: expected a name of letters, digits, _ and -')
      // If the command line gives the value, its environment variables are not needed.
      if (this.#sources.given.has(name)) {
        this.variables.set(name, { name, isSecret: false })
        continue
      }
      isSecret = false
      const json = file.json(value, fill)
      if (json === undefined) continue
      this.#variables.set(name, json)
      this.variables.set(name, { name, isSecret, ...(!isSecret && { json }) })
    }
  }

  #call(node: Node, index: number, shared: SavedServer | undefined): void {
    const file = this.#file
    const owner = `call ${index + 1}`
    if (file.kind(node) !== 'object') return file.fail(node, `${owner}: expected name and request`)
    const members = file.knownMembers(node, callNames, owner)
    const name = this.#name(node, members.get('name'), owner)
    const own = members.get('server')
    const server = own ? parseServer(file, own, this.#fill) : shared
    const asked = members.get('request')
    if (!asked) file.fail(node, `${owner} has no request: expected tool and arguments, or method and params`)
    const request = asked && this.#request(asked)
    const expected = members.get('expect')
    const expect = expected ? parseExpectation(file, expected, this.#fill) : plainExpectation
    if (name === undefined || !request) return
    this.calls.push({ name, line: file.lineOf(node), ...(server && { server }), ...request, expect })
  }

  #name(call: Node, member: YamlMember | undefined, owner: string): string | undefined {
    const file = this.#file
    const name = file.string(member?.value)
    if (name !== undefined && /\S/.test(name) && !/\p{Cc}/u.test(name) && name.length <= longestName) {
      if (!this.calls.some((before) => before.name === name)) return name
      file.fail(member!.value, 'name: an earlier call already has this name; use a unique name')
      return undefined
    }
    const expected = `expected a string of up to ${longestName} characters on one line`
    if (member) file.fail(member.value ?? member.key, `name: ${expected}, in quotes if it is a number`)
    else file.fail(call, `${owner} has no name: ${expected}, for the reports`)
    return undefined
  }

  #request(member: YamlMember): Pick<SavedCall, 'method' | 'params' | 'subject'> | undefined {
    const file = this.#file
    const place = member.value ?? member.key
    if (file.kind(member.value) !== 'object') {
      file.fail(place, 'request: expected tool and arguments, or method and params')
      return undefined
    }
    const members = file.knownMembers(member.value!, requestNames, 'request')
    const [tool, args, method, params] = requestNames.map((name) => members.get(name))
    if ((tool && (method ?? params)) || (method && args) || !(tool ?? method)) {
      file.fail(place, 'request: expected tool and arguments, or method and params')
      return undefined
    }
    const called = this.#text((tool ?? method)!)
    const object = this.#object(args ?? params)
    if (called === undefined || object === undefined) return undefined
    if (tool) {
      const whole = `{"name":${JSON.stringify(called)},"arguments":${object}}`
      return { method: 'tools/call', params: whole, subject: called }
    }
    const { name, uri } = JSON.parse(object) as { name?: unknown; uri?: unknown }
    const subject = name ?? uri
    return { method: called, params: object, ...(typeof subject === 'string' && { subject }) }
  }

  #text(member: YamlMember): string | undefined {
    const json = this.#file.kind(member.value) === 'string' && this.#file.json(member.value, this.#fill)
    const value: unknown = json === false || json === undefined ? undefined : JSON.parse(json)
    if (typeof value === 'string' && value !== '') return value
    this.#file.fail(member.value ?? member.key, `${member.name}: expected a string`)
    return undefined
  }

  #object(member: YamlMember | undefined): string | undefined {
    if (!member) return '{}'
    if (this.#file.kind(member.value) === 'object') return this.#file.json(member.value, this.#fill)
    this.#file.fail(member.value ?? member.key, `${member.name}: expected a mapping of names to values`)
    return undefined
  }

  readonly #lookup: Lookup = {
    variable: (name) => {
      const given = this.#sources.given.get(name)
      const known = given ?? this.#variables.get(name)
      if (!this.variables.has(name)) this.variables.set(name, { name, isSecret: false })
      if (given !== undefined) this.#used.names.add(name)
      return known
    },
    environment: (name) => {
      const value = this.#sources.env[name]
      // Headers trim the line break at the end of a token file.
      for (const secret of [value, value?.trim()])
        if (secret !== undefined && secret !== '') this.#used.secrets.add(secret)
      return value
    },
  }

  #filling(lookup: Lookup): StringJson {
    return (text, node) => {
      const filled = fillText(text, lookup)
      if ('json' in filled) return filled.json
      this.#file.fail(node, filled.fault)
      return '""'
    }
  }

  readonly #fill: StringJson = this.#filling(this.#lookup)
}
