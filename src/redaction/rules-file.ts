import type { Diagnostic, Position } from '../model/index.js'
import {
  decodeString,
  elementsOf,
  findJsonValue,
  isFault,
  kindAt,
  membersOf,
  type Member,
  type Span,
} from '../wire/index.js'
import { pathOfMcpTape, patternOfMcpTape } from './mcp-tape-rules.js'

export const mostRules = 200
const longestFile = 1024 * 1024
const longestName = 60

/** One rule as written. */
export type WrittenRule = {
  readonly name: string
  /** For a diagnostic: `rules[3].path`. */
  readonly place: string
  readonly at: Position
} & ({ readonly path: string } | { readonly regex: string; readonly ignoreCase: boolean })

export interface RulesFile {
  readonly rules: readonly WrittenRule[]
  readonly defaults: boolean
  readonly diagnostics: readonly Diagnostic[]
}

const stringMembers: ReadonlySet<string> = new Set(['name', 'path', 'regex', 'type', 'pattern'])

/** Reads the text of a rules file. Problems become diagnostics; the other rules are still read. */
export function parseRulesFile(fileName: string, text: string): RulesFile {
  const reading = new Reading(fileName, text)
  reading.file()
  return reading
}

class Reading implements RulesFile {
  readonly rules: WrittenRule[] = []
  readonly diagnostics: Diagnostic[] = []
  defaults = true
  readonly #fileName: string
  readonly #text: string

  constructor(fileName: string, text: string) {
    this.#fileName = fileName
    // Windows editors start files with a byte order mark.
    this.#text = text.startsWith('\ufeff') ? text.slice(1) : text
  }

  file(): void {
    const text = this.#text
    if (text.length > longestFile) return this.#fail(0, 'is larger than 1 MB: write fewer or shorter rules')
    const top = findJsonValue(text)
    if (isFault(top)) return this.#fail(top.at, `is not JSON, ${top.reason}: correct the file there`)
    if (kindAt(text, top.start) !== 'object') {
      return this.#fail(top.start, 'is not an object: write {"rules": [{"regex": "…"}]}')
    }
    for (const member of membersOf(text, top.start)) {
      if (member.name === 'extends') this.#extends(member)
      else if (member.name === 'rules') this.#rules(member)
      else this.#unknown(member, '', 'extends and rules')
    }
  }

  #extends(member: Member): void {
    const kind = kindAt(this.#text, member.start)
    if (kind === 'null') this.defaults = false
    else if (kind !== 'string' || this.#string(member) !== 'default') {
      this.#fail(member.start, ': extends must be "default" or null')
    }
  }

  #rules(list: Member): void {
    if (kindAt(this.#text, list.start) !== 'array') return this.#fail(list.start, ': rules must be an array')
    const elements = elementsOf(this.#text, list.start, mostRules + 1)
    const tooMany = elements[mostRules]
    if (tooMany !== undefined)
      this.#fail(tooMany.start, `: rules has more than ${mostRules} elements: combine some of them`)
    for (const [i, span] of elements.slice(0, mostRules).entries()) this.#rule(span, `rules[${i}]`)
  }

  #rule(span: Span, place: string): void {
    if (kindAt(this.#text, span.start) !== 'object') {
      return this.#fail(span.start, `: ${place} is not an object: write {"regex": "…"} or {"path": "…"}`)
    }
    const before = this.diagnostics.length
    const strings = new Map<string, Member>()
    let ignoreCase = false
    for (const member of membersOf(this.#text, span.start)) {
      const kind = kindAt(this.#text, member.start)
      if (stringMembers.has(member.name)) {
        if (kind !== 'string')
          this.#fail(member.start, `: ${place}.${member.name} is not a string: put it in quotes`)
        else strings.set(member.name, member)
      } else if (member.name === 'ignoreCase') {
        if (kind !== 'boolean') this.#fail(member.start, `: ${place}.ignoreCase must be true or false`)
        ignoreCase = this.#text.charCodeAt(member.start) === 0x74
      } else this.#unknown(member, `${place}.`, 'name, path, regex, ignoreCase, type and pattern')
    }
    if (this.diagnostics.length > before) return

    if (strings.has('type') || strings.has('pattern')) return this.#typed(span, place, strings)
    const path = strings.get('path')
    const regex = strings.get('regex')
    const what = regex ?? path
    if (what === undefined || (path !== undefined && regex !== undefined)) {
      return this.#fail(
        span.start,
        `: ${place} has ${what ? 'both path and' : 'neither path nor'} regex: use exactly one of them`,
      )
    }
    const written = this.#string(what)
    if (written === '') return this.#fail(what.start, `: ${place}.${what.name} is empty: give a value`)
    const name = this.#name(strings.get('name')) ?? place
    const common = { name, place: `${place}.${what.name}`, at: this.#position(what.start) }
    this.rules.push(
      path === undefined ? { ...common, regex: written, ignoreCase } : { ...common, path: written },
    )
  }

  /** A rule in the form of mcp-tape: `{"type": "path", "path": …}` or `{"type": "regex", "pattern": …}`. */
  #typed(span: Span, place: string, strings: ReadonlyMap<string, Member>): void {
    const type = strings.has('type') ? this.#string(strings.get('type')!) : undefined
    const wanted = type === 'path' ? 'path' : type === 'regex' ? 'pattern' : undefined
    const others = ['path', 'pattern', 'regex'].filter((name) => name !== wanted && strings.has(name))
    const member = wanted === undefined ? undefined : strings.get(wanted)
    if (member === undefined || others.length > 0) {
      const forms = '{"type": "path", "path": "…"} or {"type": "regex", "pattern": "…"}'
      return this.#fail(span.start, `: ${place} is not a rule of mcp-tape: write ${forms}`)
    }
    const written = this.#string(member)
    if (written === '') return this.#fail(member.start, `: ${place}.${member.name} is empty: give a value`)
    const name = this.#name(strings.get('name')) ?? place
    const common = { name, place: `${place}.${member.name}`, at: this.#position(member.start) }
    this.rules.push(
      wanted === 'path'
        ? { ...common, path: pathOfMcpTape(written) }
        : { ...common, regex: patternOfMcpTape(written), ignoreCase: false },
    )
  }

  #name(member: Member | undefined): string | undefined {
    const name = member && this.#string(member)
    return name === undefined || name === '' ? undefined : name.slice(0, longestName)
  }

  #string({ start, end }: Span): string {
    return decodeString(this.#text, start, end)
  }

  #unknown(member: Member, owner: string, known: string): void {
    const name = JSON.stringify(member.name.slice(0, longestName))
    this.#fail(member.nameStart, `: ${owner}${name} is unknown: use ${known}`)
  }

  #fail(index: number, message: string): void {
    const words = message.startsWith(':') ? message : ` ${message}`
    this.diagnostics.push({
      severity: 'error',
      code: 'bad-rules-file',
      message: this.#fileName + words,
      at: this.#position(index),
    })
  }

  #position(index: number): Position {
    const before = this.#text.slice(0, index)
    const line = before.split('\n').length
    return { line, column: index - before.lastIndexOf('\n') }
  }
}
