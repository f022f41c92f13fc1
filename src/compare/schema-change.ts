/** Impact of a change on users of an offer. */
export type Impact =
  /** A correct use may fail now. */
  | 'breaking'
  /** Clients keep working, but a model reads other text than before: a person should review it. */
  | 'review'
  | 'compatible'
  /** Distinguishes releases without other effects; not a difference by itself. */
  | 'note'

/** One change in a schema. */
export interface SchemaChange {
  readonly impact: Impact
  /** `/properties/city: required now` */
  readonly text: string
}

/** The combined impact of several changes. */
export function worstOf(details: readonly SchemaChange[]): Impact {
  const has = (wanted: Impact): boolean => details.some(({ impact }) => impact === wanted)
  return has('breaking') ? 'breaking' : has('review') ? 'review' : 'compatible'
}

/** Members of a definition that a model reads as text, or that tell a client what to allow. */
const words = new Set(['title', 'description', 'default', 'examples', '$comment', 'annotations'])

/** Impact of a changed member that no other rule covers. */
export function impactOfWords(member: string): Impact {
  return words.has(member) ? 'review' : 'compatible'
}

/** Whether a definition, or part of it, has such text. @param value no deeper than `isTooDeep` allows */
export function hasWords(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasWords)
  return Object.entries(value).some(([name, inner]) => words.has(name) || hasWords(inner))
}

type Json = unknown
type JsonMap = { readonly [name: string]: Json }

/** Values sent to a server (`input`) must not be refused; values from it (`output`) must keep their form. */
type Role = 'input' | 'output'

/** Members without effect on validation. */
const annotations = new Set(
  'title description default examples $schema $id $comment deprecated readOnly writeOnly format x-mcp-header'.split(
    ' ',
  ),
)
const lowerBounds = new Set([
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
  'minContains',
])
const upperBounds = new Set([
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
  'maxContains',
])
const deepest = 32

/** Changes between two schemas of a tool's arguments or results. */
export function compareSchemas(before: Json, after: Json, role: Role): SchemaChange[] {
  const comparer = new SchemaComparer(role)
  comparer.compare(before, after, '', 0)
  return comparer.changes
}

class SchemaComparer {
  readonly #role: Role
  readonly changes: SchemaChange[] = []

  constructor(role: Role) {
    this.#role = role
  }

  compare(a: Json, b: Json, at: string, depth: number): void {
    if (JSON.stringify(a) === JSON.stringify(b)) return
    if (!isMap(a) || !isMap(b) || depth > deepest) {
      this.#add('breaking', at, 'schema changed')
      return
    }
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const [old, now] = [a[name], b[name]]
      if (JSON.stringify(old) === JSON.stringify(now)) continue
      if (annotations.has(name)) this.#add(impactOfWords(name), at, `${name} changed`)
      else if (name === 'properties') this.#properties(a, b, at, depth)
      else if (name === 'required') this.#required(a, b, at)
      else if (name === 'type') this.#types(old, now, at)
      else if (name === 'enum') this.#values(old, now, at)
      else if (lowerBounds.has(name)) this.#bounds(name, old, now, at, 1)
      else if (upperBounds.has(name)) this.#bounds(name, old, now, at, -1)
      else if (name === 'items' && isMap(old) && isMap(now)) this.compare(old, now, `${at}/items`, depth + 1)
      else if (name === 'additionalProperties') this.#additional(old, now, at, depth)
      else if (old === undefined) this.#tighter(at, `${name} added`)
      else if (now === undefined) this.#looser(at, `${name} removed`)
      else this.#add('breaking', at, `${name} changed`)
    }
  }

  #add(impact: Impact, at: string, text: string): void {
    this.changes.push({ impact, text: at === '' ? text : `${at}: ${text}` })
  }

  /** Fewer values are allowed: a previously valid argument may be refused. */
  #tighter(at: string, text: string): void {
    this.#add(this.#role === 'input' ? 'breaking' : 'compatible', at, text)
  }

  /** More values are allowed: a result may have a new form. */
  #looser(at: string, text: string): void {
    this.#add(this.#role === 'input' ? 'compatible' : 'breaking', at, text)
  }

  #properties(a: JsonMap, b: JsonMap, at: string, depth: number): void {
    const [old, now] = [mapOf(a['properties']), mapOf(b['properties'])]
    for (const [name, schema] of Object.entries(old)) {
      if (!Object.hasOwn(now, name)) this.#add('breaking', at, `${JSON.stringify(name)} removed`)
      else this.compare(schema, now[name], `${at}/${name}`, depth + 1)
    }
    for (const name of Object.keys(now)) {
      // A required member is reported under `required`.
      if (!Object.hasOwn(old, name) && !(this.#role === 'input' && namesOf(b['required']).includes(name)))
        this.#add(hasWords(now[name]) ? 'review' : 'compatible', at, `${JSON.stringify(name)} added`)
    }
  }

  #required(a: JsonMap, b: JsonMap, at: string): void {
    const [old, now] = [namesOf(a['required']), namesOf(b['required'])]
    for (const name of now) if (!old.includes(name)) this.#tighter(at, `${JSON.stringify(name)} required now`)
    for (const name of old) {
      // A removed member is reported once.
      const isGone =
        Object.hasOwn(mapOf(a['properties']), name) && !Object.hasOwn(mapOf(b['properties']), name)
      if (!now.includes(name) && !isGone) this.#looser(at, `${JSON.stringify(name)} optional now`)
    }
  }

  #types(old: Json, now: Json, at: string): void {
    const [was, is] = [typesOf(old), typesOf(now)]
    if (was.length > 0 && was.toSorted().join(' ') === is.toSorted().join(' ')) return
    const text = `type ${wordOf(old)} → ${wordOf(now)}`
    const within = (some: string[], all: string[]): boolean =>
      all.length === 0 ||
      (some.length > 0 &&
        some.every((type) => all.includes(type) || (type === 'integer' && all.includes('number'))))
    if (within(is, was)) this.#tighter(at, text)
    else if (within(was, is)) this.#looser(at, text)
    else this.#add('breaking', at, text)
  }

  #values(old: Json, now: Json, at: string): void {
    if (!Array.isArray(now)) return this.#looser(at, 'enum removed')
    if (!Array.isArray(old)) return this.#tighter(at, 'enum added')
    const texts = (list: Json[]): string[] => list.map((value) => JSON.stringify(value))
    const [was, is] = [texts(old), texts(now)]
    for (const value of was) if (!is.includes(value)) this.#tighter(at, `enum value ${value} removed`)
    for (const value of is) if (!was.includes(value)) this.#looser(at, `enum value ${value} added`)
  }

  #bounds(name: string, old: Json, now: Json, at: string, sign: number): void {
    const text = `${name} ${wordOf(old)} → ${wordOf(now)}`
    const isTighter = old === undefined || (now !== undefined && (Number(now) - Number(old)) * sign > 0)
    if (isTighter) this.#tighter(at, text)
    else this.#looser(at, text)
  }

  #additional(old: Json, now: Json, at: string, depth: number): void {
    if (isMap(old) && isMap(now)) this.compare(old, now, `${at}/*`, depth + 1)
    else if (now === false) this.#tighter(at, 'additional members no longer allowed')
    else if (old === false) this.#add('compatible', at, 'additional members now allowed')
    else this.#add('compatible', at, 'additionalProperties changed')
  }
}

function isMap(value: Json): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mapOf(value: Json): JsonMap {
  return isMap(value) ? value : {}
}

function namesOf(value: Json): string[] {
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : []
}

function typesOf(value: Json): string[] {
  return typeof value === 'string' ? [value] : namesOf(value)
}

function wordOf(value: Json): string {
  if (value === undefined) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
