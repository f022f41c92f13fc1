import { parseFilter, type Filter } from '../../filter/index.js'
import type { Diagnostic } from '../../model/index.js'
import { neverReason } from './never.js'
import { actionKinds, parseAction } from './parse-action.js'
import type { ParsedRules, Rule } from './rule.js'
import { YamlFile, type Node, type YamlMember } from '../../yaml/index.js'

export interface ParseRulesOptions {
  /** The text of a file named by `respond: {file: …}`; or the problem, in words. */
  readonly readFile: (name: string) => { readonly text: string } | { readonly problem: string }
}

export interface RulesReading extends ParsedRules {
  /** If there are any, the rules must not be used. In file order. */
  readonly diagnostics: readonly Diagnostic[]
}

const mostRules = 200
const longestFile = 1024 * 1024
const longestName = 60
const topNames = ['seed', 'rules']
const ruleNames = ['name', 'when', 'on', 'times', 'every', 'probability']

/** Parses a rules file. Never throws on bad input. */
export function parseRules(text: string, options: ParseRulesOptions): RulesReading {
  if (text.length > longestFile) return refused('is larger than 1 MB: write fewer or shorter rules')
  const file = new YamlFile(text.startsWith('\ufeff') ? text.slice(1) : text)
  const reading = new Reading(file, options)
  if (file.diagnostics.length === 0) reading.file()
  const diagnostics = file.diagnostics.toSorted(
    (a, b) => (a.at?.line ?? 0) - (b.at?.line ?? 0) || (a.at?.column ?? 0) - (b.at?.column ?? 0),
  )
  return { seed: reading.seed, rules: reading.rules, diagnostics }
}

function refused(message: string): RulesReading {
  const diagnostic: Diagnostic = { severity: 'error', code: 'bad-rules-file', message }
  return { seed: 0, rules: [], diagnostics: [diagnostic] }
}

class Reading {
  seed = 0
  readonly rules: Rule[] = []
  readonly #file: YamlFile
  readonly #options: ParseRulesOptions

  constructor(file: YamlFile, options: ParseRulesOptions) {
    this.#file = file
    this.#options = options
  }

  file(): void {
    const file = this.#file
    const { top } = file
    if (top === undefined || file.kind(top) !== 'object') {
      return file.fail(top, 'expected `rules:` and a list of rules')
    }
    const members = file.knownMembers(top, topNames, 'the file')
    const seed = members.get('seed')
    if (seed) {
      const number = file.number(seed.value)
      if (number === undefined || !Number.isSafeInteger(number))
        file.fail(seed.value ?? seed.key, 'seed: expected an integer')
      else this.seed = number
    }
    const list = members.get('rules')
    if (!list) return file.fail(top, 'expected `rules:` and a list of rules')
    // `rules:` without a value is an empty list.
    if (list.value !== undefined && file.kind(list.value) !== 'null' && file.kind(list.value) !== 'array') {
      return file.fail(list.value, 'rules: expected a list, with a `-` before each element')
    }
    const elements = list.value === undefined ? [] : file.elements(list.value)
    if (elements.length > mostRules)
      file.fail(elements[mostRules], `more than ${mostRules} rules: expected fewer`)
    for (const [i, element] of elements.slice(0, mostRules).entries()) this.#rule(element, i)
  }

  #rule(node: Node, index: number): void {
    const file = this.#file
    if (file.kind(node) !== 'object') {
      return file.fail(node, `rule ${index + 1}: expected name, when and an action`)
    }
    const faultsBefore = file.diagnostics.length
    const members = file.knownMembers(node, [...ruleNames, ...actionKinds], `rule ${index + 1}`)
    const hasUnknown = file.diagnostics.length > faultsBefore
    const name = this.#name(node, members.get('name'), index)
    const when = this.#when(node, members.get('when'), index)
    const answersOnly = this.#answersOnly(members.get('on'))
    const times = this.#count(members.get('times'))
    const every = this.#count(members.get('every'))
    const probability = this.#probability(members.get('probability'))
    const [action, another] = actionKinds.flatMap((kind) => members.get(kind) ?? [])
    if (another)
      file.fail(another.key, `${another.name}: the rule already has ${action!.name}; a rule has one action`)
    else if (!action && !hasUnknown)
      file.fail(node, `rule ${index + 1} has no action: expected one of ${actionKinds.join(', ')}`)
    const parsed = action && parseAction(file, action, this.#options.readFile)
    const never = when && neverReason({ when, answersOnly })
    if (never !== undefined) file.fail(members.get('when')?.value, `when: ${never}`)
    if (answersOnly && parsed?.kind === 'respond') {
      file.fail(action!.key, 'respond: only requests get a response; remove `on: answers`')
    }
    if (file.diagnostics.length > faultsBefore || !parsed || name === undefined || !when) return
    this.rules.push({
      name,
      when,
      answersOnly,
      action: parsed,
      ...(times !== undefined && { times }),
      ...(every !== undefined && { every }),
      ...(probability !== undefined && { probability }),
      source: file.source(node) + ('text' in parsed ? parsed.text : ''),
    })
  }

  #name(rule: Node, member: YamlMember | undefined, index: number): string | undefined {
    const file = this.#file
    if (!member) {
      file.fail(rule, `rule ${index + 1} has no name: add a name, which the tape uses for this rule`)
      return undefined
    }
    const name = file.string(member.value)
    const place = member.value ?? member.key
    if (
      name === undefined ||
      !/^[^\s,\p{Cc}](?:[^,\p{Cc}]*[^\s,\p{Cc}])?$/u.test(name) ||
      name.length > longestName
    ) {
      file.fail(
        place,
        `name: expected a string of up to ${longestName} characters without commas, in quotes if it is a number`,
      )
    } else if (this.rules.some((rule) => rule.name === name)) {
      file.fail(place, `name: ${name} is already the name of another rule; use a unique name`)
    } else return name
    return undefined
  }

  #when(rule: Node, member: YamlMember | undefined, index: number): Filter | undefined {
    const file = this.#file
    if (!member) {
      file.fail(rule, `rule ${index + 1} has no when: expected a filter, such as 'method:tools/call'`)
      return undefined
    }
    const text = file.string(member.value)
    if (text === undefined) {
      file.fail(member.value ?? member.key, "when: expected a filter in quotes, such as 'method:tools/call'")
      return undefined
    }
    const { filter, fault } = parseFilter(text, { findings: 'refused' })
    if (filter) return filter
    const { index: at, exact } = file.within(member.value!, fault.column)
    file.failAt(at, `when: ${exact ? '' : `in column ${fault.column} of the filter: `}${fault.message}`)
    return undefined
  }

  #answersOnly(member: YamlMember | undefined): boolean {
    if (!member) return false
    if (this.#file.string(member.value) === 'answers') return true
    this.#file.fail(
      member.value ?? member.key,
      'on: expected answers; leave out `on` to match requests and notifications',
    )
    return false
  }

  #count(member: YamlMember | undefined): number | undefined {
    if (!member) return undefined
    const number = this.#file.number(member.value)
    if (number !== undefined && Number.isSafeInteger(number) && number >= 1) return number
    this.#file.fail(member.value ?? member.key, `${member.name}: expected an integer of 1 or more`)
    return undefined
  }

  #probability(member: YamlMember | undefined): number | undefined {
    if (!member) return undefined
    const number = this.#file.number(member.value)
    if (number !== undefined && number >= 0 && number <= 1) return number
    this.#file.fail(member.value ?? member.key, 'probability: expected a number from 0 to 1')
    return undefined
  }
}
