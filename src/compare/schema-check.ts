import { compilePattern, QueryFault } from '../json-path/index.js'
import { pointerStep, pointerSteps } from '../wire/index.js'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** One place where a value violates its schema. */
export interface SchemaFault {
  /** JSON Pointer into the value. */
  readonly at: string
  /** `is a string, not a number` */
  readonly problem: string
}

const mostFaults = 20
const deepestSchema = 512
/** Limit of rule evaluations. A schema comes from the other side, and may refer to itself. */
const mostVisits = 1_000_000

/**
 * Validates a value against a JSON Schema (2020-12 or draft-07). Ignores `format`, `unevaluated*` and `$dynamicRef`.
 * References resolve within the schema only. No npm library is used: those support neither unknown values nor a limit
 * on work, and run patterns in a backtracking engine.
 *
 * @param unknown JSON Pointers to parts of the value that may be anything
 */
export function checkSchema(
  schema: Json,
  value: Json,
  unknown: ReadonlySet<string> = new Set(),
): SchemaFault[] {
  return new SchemaCheck(schema, unknown).run(value)
}

type Rule = { [name: string]: Json }

/** A value, its place and its faults. */
interface Checked<T extends Json = Json> {
  readonly data: T
  /** JSON Pointer. */
  readonly at: string
  readonly depth: number
  readonly into: SchemaFault[]
}

class SchemaCheck {
  readonly #schema: Json
  readonly #unknown: ReadonlySet<string>
  readonly #patterns = createPatterns()
  readonly #places
  readonly #ignoresBesideReference: boolean
  /** Results by schema part and place; a part still being evaluated has no faults so far. */
  readonly #seen = new Map<Json, Map<string, SchemaFault[]>>()
  #visits = 0

  constructor(schema: Json, unknown: ReadonlySet<string>) {
    this.#schema = schema
    this.#unknown = unknown
    this.#places = createPlaces(schema)
    this.#ignoresBesideReference =
      isObject(schema) && /draft-0[3-7]/.test(JSON.stringify(schema['$schema'] ?? ''))
  }

  run(value: Json): SchemaFault[] {
    const tooMuch = [{ at: '', problem: 'takes too long to check against the schema' }]
    try {
      const faults = this.#checkOnce(this.#schema, value, '', 0)
      return this.#isOverWorked ? tooMuch : [...faults]
    } catch (error) {
      // Constants or elements that are nested too deep to compare.
      if (error instanceof RangeError) return tooMuch
      throw error
    }
  }

  get #isOverWorked(): boolean {
    return this.#visits > mostVisits
  }

  /** Evaluates a schema part that others, or the part itself, may refer to. */
  #checkOnce(rule: Json | undefined, data: Json, at: string, depth: number): readonly SchemaFault[] {
    if (rule === undefined) return []
    let places = this.#seen.get(rule)
    if (!places) this.#seen.set(rule, (places = new Map<string, SchemaFault[]>()))
    const known = places.get(at)
    if (known) return known
    const into: SchemaFault[] = []
    places.set(at, into)
    this.#check(rule, { data, at, depth, into })
    return into
  }

  #holdsUnknown(at: string): boolean {
    for (const place of this.#unknown) if (place.startsWith(`${at}/`)) return true
    return false
  }

  #check(rule: Json | undefined, checked: Checked): void {
    const { data, at, depth, into } = checked
    this.#visits += 1
    if (this.#isOverWorked) return
    if (this.#unknown.has(at)) return
    if (rule === false) return say(checked, 'is not allowed')
    if (!isObject(rule) || depth > deepestSchema) return
    const reference = rule['$ref']
    if (typeof reference === 'string') {
      this.#mustFit(this.#places.at(reference), checked)
      if (this.#ignoresBesideReference) return
    }
    const types = typeof rule['type'] === 'string' ? [rule['type']] : listOf(rule['type'])
    if (types.length > 0 && !types.some((type) => isOfType(data, type)))
      return say(checked, `is ${nameOf(data)}, not ${types.map(String).join(' or ')}`)
    if (Array.isArray(rule['enum']) && !rule['enum'].some((one) => equal(one, data)))
      say(checked, 'is not one of the enum values')
    if ('const' in rule && !equal(rule['const'], data)) say(checked, 'is not the const value')
    this.#checkCombined(rule, checked)
    if (isObject(data)) this.#checkObject(rule, { data, at, depth, into })
    else if (Array.isArray(data)) this.#checkArray(rule, { data, at, depth, into })
    else if (typeof data === 'string')
      checkString(rule, data, this.#patterns, (problem) => say(checked, problem))
    else if (typeof data === 'number') checkNumber(rule, data, (problem) => say(checked, problem))
  }

  #fits(rule: Json, { data, at, depth }: Checked): boolean {
    return this.#checkOnce(rule, data, at, depth + 1).length === 0
  }

  #mustFit(rule: Json | undefined, { data, at, depth, into }: Checked): void {
    for (const fault of this.#checkOnce(rule, data, at, depth + 1))
      if (into.length < mostFaults) into.push(fault)
  }

  /** Rules that consist of other schemas for the same value. */
  #checkCombined(rule: Rule, checked: Checked): void {
    const { data, at } = checked
    for (const part of listOf(rule['allOf'])) this.#mustFit(part, checked)
    const any = listOf(rule['anyOf'])
    if (any.length > 0 && !any.some((one) => this.#fits(one, checked))) {
      const meant = meantOf(any, data, this.#places)
      if (meant === undefined) say(checked, 'matches none of the anyOf schemas')
      else this.#mustFit(meant, checked)
    }
    const one = listOf(rule['oneOf'])
    const fitting = one.filter((part) => this.#fits(part, checked)).length
    // An unknown value may be what distinguishes them.
    if (one.length > 0 && fitting !== 1 && (fitting === 0 || !this.#holdsUnknown(at)))
      say(checked, 'does not match exactly one of the oneOf schemas')
    if (rule['not'] !== undefined && !this.#holdsUnknown(at) && this.#fits(rule['not'], checked))
      say(checked, 'matches the schema that "not" forbids')
    if (rule['if'] !== undefined && !this.#holdsUnknown(at))
      this.#mustFit(this.#fits(rule['if'], checked) ? rule['then'] : rule['else'], checked)
  }

  #checkObject(rule: Rule, checked: Checked<Rule>): void {
    const { data, at, depth, into } = checked
    const inside = (value: Json, place: string): Checked => ({
      data: value,
      at: place,
      depth: depth + 1,
      into,
    })
    for (const name of listOf(rule['required'])) {
      if (typeof name === 'string' && !Object.hasOwn(data, name))
        say(checked, `has no ${JSON.stringify(name)}`)
    }
    for (const [name, needed] of ['dependentRequired', 'dependentSchemas', 'dependencies'].flatMap(
      (keyword) => entriesOf(rule[keyword]),
    )) {
      if (!Object.hasOwn(data, name)) continue
      if (!Array.isArray(needed)) this.#check(needed, inside(data, at))
      else if (!needed.every((one) => typeof one === 'string' && Object.hasOwn(data, one)))
        say(checked, `has ${JSON.stringify(name)} without a member that it requires`)
    }
    const properties = isObject(rule['properties']) ? rule['properties'] : {}
    const patterned = entriesOf(rule['patternProperties'])
    for (const [name, value] of Object.entries(data)) {
      const place = at + pointerStep(name)
      this.#check(rule['propertyNames'], inside(name, place))
      // A pattern that cannot be evaluated may be the one that allows the member.
      this.#visits += patterned.length
      if (this.#isOverWorked) return
      const tried = patterned.map(([pattern, part]) => ({ part, fits: this.#patterns.test(pattern, name) }))
      for (const { part, fits } of tried) if (fits) this.#check(part, inside(value, place))
      if (Object.hasOwn(properties, name)) this.#check(properties[name], inside(value, place))
      else if (tried.every(({ fits }) => fits === false))
        this.#check(rule['additionalProperties'], inside(value, place))
    }
    const count = Object.keys(data).length
    bound(rule, 'minProperties', 'maxProperties', count, 'member', (problem) => say(checked, problem))
  }

  #checkArray(rule: Rule, checked: Checked<Json[]>): void {
    const { data, at, depth, into } = checked
    const tell = (problem: string): void => say(checked, problem)
    // Before 2020-12, a list in `items` had the meaning of `prefixItems`.
    const { items } = rule
    const first = Array.isArray(items) ? items : listOf(rule['prefixItems'])
    const others = Array.isArray(items) ? rule['additionalItems'] : items
    for (const [i, value] of data.entries()) {
      const part = i < first.length ? first[i] : others
      this.#check(part, { data: value, at: `${at}/${i}`, depth: depth + 1, into })
    }
    bound(rule, 'minItems', 'maxItems', data.length, 'element', tell)
    if (this.#holdsUnknown(at)) return
    if (rule['uniqueItems'] === true && new Set(data.map(plainText)).size < data.length)
      tell('has duplicate elements')
    const { contains } = rule
    if (contains === undefined) return
    const found = data.filter(
      (one, i) => this.#checkOnce(contains, one, `${at}/${i}`, depth + 1).length === 0,
    )
    const least = { minContains: 1, ...rule }
    bound(least, 'minContains', 'maxContains', found.length, 'matching element', tell)
  }
}

function say({ at, into }: Checked, problem: string): void {
  if (into.length < mostFaults) into.push({ at, problem })
}

/**
 * The alternative that a value is meant to match: its constant members, such as `"type": "text"`, equal those present
 * in the value, and no required member is missing. Undefined if several match.
 */
function meantOf(
  alternatives: readonly Json[],
  data: Json,
  places: ReturnType<typeof createPlaces>,
): Json | undefined {
  if (!isObject(data)) return undefined
  const meant = alternatives.filter((alternative) => {
    const reference = isObject(alternative) ? alternative['$ref'] : undefined
    const rule = typeof reference === 'string' ? places.at(reference) : alternative
    if (!isObject(rule)) return false
    const constants = entriesOf(rule['properties']).flatMap(([name, part]) =>
      isObject(part) && 'const' in part && Object.hasOwn(data, name) ? [[name, part['const']!] as const] : [],
    )
    if (!constants.every(([name, constant]) => equal(constant, data[name]!))) return false
    const lacks = (name: Json): boolean => typeof name !== 'string' || !Object.hasOwn(data, name)
    return constants.length > 0 || !listOf(rule['required']).some(lacks)
  })
  return meant.length === 1 ? meant[0] : undefined
}

function checkString(
  rule: { [name: string]: Json },
  data: string,
  patterns: Patterns,
  say: (problem: string) => void,
): void {
  bound(rule, 'minLength', 'maxLength', Array.from(data).length, 'character', say)
  const { pattern } = rule
  if (typeof pattern === 'string' && patterns.test(pattern, data) === false) say('does not match the pattern')
}

interface Patterns {
  /** Undefined for a pattern that needs a backtracking engine: it is ignored. */
  test(pattern: string, text: string): boolean | undefined
}

function createPatterns(): Patterns {
  const compiled = new Map<string, ReturnType<typeof compilePattern> | undefined>()
  function compile(pattern: string): ReturnType<typeof compilePattern> | undefined {
    try {
      return compilePattern(pattern, false)
    } catch (problem) {
      if (!(problem instanceof QueryFault)) throw problem
      return undefined
    }
  }
  return {
    test(pattern, text) {
      if (!compiled.has(pattern)) compiled.set(pattern, compile(pattern))
      return compiled.get(pattern)?.test(text)
    },
  }
}

function checkNumber(rule: { [name: string]: Json }, data: number, say: (problem: string) => void): void {
  const step = rule['multipleOf']
  if (typeof step === 'number' && step > 0) {
    const steps = data / step
    const isNear = Math.abs(steps - Math.round(steps)) <= Math.abs(steps) * 1e-12
    if (Number.isFinite(steps) && !isNear) say(`is not a multiple of ${step}`)
  }
  const at = (name: string): number | undefined => (typeof rule[name] === 'number' ? rule[name] : undefined)
  if (data < (at('minimum') ?? -Infinity) || data <= (at('exclusiveMinimum') ?? -Infinity))
    say('is too small')
  if (data > (at('maximum') ?? Infinity) || data >= (at('exclusiveMaximum') ?? Infinity)) say('is too large')
}

function bound(
  rule: { [name: string]: Json },
  least: string,
  most: string,
  count: number,
  what: string,
  say: (problem: string) => void,
): void {
  const [min, max] = [rule[least], rule[most]]
  const has = `has ${count} ${what}${count === 1 ? '' : 's'}`
  if (typeof min === 'number' && count < min) say(`${has}, expected at least ${min}`)
  if (typeof max === 'number' && count > max) say(`${has}, expected at most ${max}`)
}

/** Resolves references: `#`, `#/$defs/x` and `#anchor`. Others, such as URLs, are ignored. */
function createPlaces(root: Json): { at(reference: string): Json | undefined } {
  let anchors: Map<string, Json> | undefined
  function pointed(pointer: string): Json | undefined {
    let value: Json | undefined = root
    for (const name of pointerSteps(pointer)) {
      if (typeof value !== 'object' || value === null) return undefined
      value = Object.hasOwn(value, name) ? (value as { [name: string]: Json })[name] : undefined
    }
    return value
  }
  return {
    at(reference) {
      if (!reference.startsWith('#')) return undefined
      const fragment = unescaped(reference.slice(1))
      if (fragment === '' || fragment.startsWith('/')) return pointed(fragment)
      return (anchors ??= anchorsIn(root)).get(fragment)
    },
  }
}

function unescaped(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

function anchorsIn(root: Json): Map<string, Json> {
  const anchors = new Map<string, Json>()
  const open = [root]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (typeof part !== 'object' || part === null) continue
    if (isObject(part) && typeof part['$anchor'] === 'string') anchors.set(part['$anchor'], part)
    for (const inner of Object.values(part)) open.push(inner)
  }
  return anchors
}

function isOfType(data: Json, type: Json): boolean {
  if (type === 'integer') return typeof data === 'number' && Number.isInteger(data)
  if (type === 'number') return typeof data === 'number'
  return type === nameOfType(data)
}

function nameOfType(data: Json): string {
  return data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data
}

function nameOf(data: Json): string {
  const type = nameOfType(data)
  return type === 'null' ? 'null' : `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`
}

function equal(a: Json, b: Json): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [aEntries, bEntries] = [Object.entries(a), Object.entries(b)]
  return (
    aEntries.length === bEntries.length &&
    aEntries.every(
      ([name, value]) => Object.hasOwn(b, name) && equal(value, (b as { [n: string]: Json })[name]!),
    )
  )
}

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function entriesOf(value: Json | undefined): [string, Json][] {
  return isObject(value) ? Object.entries(value) : []
}

/** Equal for equal values, regardless of member order. */
function plainText(value: Json): string {
  return JSON.stringify(value, (_, part: Json) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}

function listOf(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : []
}
