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
  const changes: SchemaChange[] = []
  const add = (impact: Impact, at: string, text: string): void => {
    changes.push({ impact, text: at === '' ? text : `${at}: ${text}` })
  }
  /** Fewer values are allowed: a previously valid argument may be refused. */
  const tighter = (at: string, text: string): void =>
    add(role === 'input' ? 'breaking' : 'compatible', at, text)
  /** More values are allowed: a result may have a new form. */
  const looser = (at: string, text: string): void =>
    add(role === 'input' ? 'compatible' : 'breaking', at, text)

  function compare(a: Json, b: Json, at: string, depth: number): void {
    if (JSON.stringify(a) === JSON.stringify(b)) return
    if (!isMap(a) || !isMap(b) || depth > deepest) {
      add('breaking', at, 'schema changed')
      return
    }
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const [old, now] = [a[name], b[name]]
      if (JSON.stringify(old) === JSON.stringify(now)) continue
      if (annotations.has(name)) add(impactOfWords(name), at, `${name} changed`)
      else if (name === 'properties') properties(a, b, at, depth)
      else if (name === 'required') required(a, b, at)
      else if (name === 'type') types(old, now, at)
      else if (name === 'enum') values(old, now, at)
      else if (lowerBounds.has(name)) bounds(name, old, now, at, 1)
      else if (upperBounds.has(name)) bounds(name, old, now, at, -1)
      else if (name === 'items' && isMap(old) && isMap(now)) compare(old, now, `${at}/items`, depth + 1)
      else if (name === 'additionalProperties') additional(old, now, at, depth)
      else if (old === undefined) tighter(at, `${name} added`)
      else if (now === undefined) looser(at, `${name} removed`)
      else add('breaking', at, `${name} changed`)
    }
  }

  function properties(a: JsonMap, b: JsonMap, at: string, depth: number): void {
    const [old, now] = [mapOf(a['properties']), mapOf(b['properties'])]
    for (const [name, schema] of Object.entries(old)) {
      if (!Object.hasOwn(now, name)) add('breaking', at, `${JSON.stringify(name)} removed`)
      else compare(schema, now[name], `${at}/${name}`, depth + 1)
    }
    for (const name of Object.keys(now)) {
      // A required member is reported under `required`.
      if (!Object.hasOwn(old, name) && !(role === 'input' && namesOf(b['required']).includes(name)))
        add(hasWords(now[name]) ? 'review' : 'compatible', at, `${JSON.stringify(name)} added`)
    }
  }

  function required(a: JsonMap, b: JsonMap, at: string): void {
    const [old, now] = [namesOf(a['required']), namesOf(b['required'])]
    for (const name of now) if (!old.includes(name)) tighter(at, `${JSON.stringify(name)} required now`)
    for (const name of old) {
      // A removed member is reported once.
      const isGone =
        Object.hasOwn(mapOf(a['properties']), name) && !Object.hasOwn(mapOf(b['properties']), name)
      if (!now.includes(name) && !isGone) looser(at, `${JSON.stringify(name)} optional now`)
    }
  }

  function types(old: Json, now: Json, at: string): void {
    const [was, is] = [typesOf(old), typesOf(now)]
    if (was.length > 0 && was.toSorted().join(' ') === is.toSorted().join(' ')) return
    const text = `type ${wordOf(old)} → ${wordOf(now)}`
    const within = (some: string[], all: string[]): boolean =>
      all.length === 0 ||
      (some.length > 0 &&
        some.every((type) => all.includes(type) || (type === 'integer' && all.includes('number'))))
    if (within(is, was)) tighter(at, text)
    else if (within(was, is)) looser(at, text)
    else add('breaking', at, text)
  }

  function values(old: Json, now: Json, at: string): void {
    if (!Array.isArray(now)) return looser(at, 'enum removed')
    if (!Array.isArray(old)) return tighter(at, 'enum added')
    const texts = (list: Json[]): string[] => list.map((value) => JSON.stringify(value))
    const [was, is] = [texts(old), texts(now)]
    for (const value of was) if (!is.includes(value)) tighter(at, `enum value ${value} removed`)
    for (const value of is) if (!was.includes(value)) looser(at, `enum value ${value} added`)
  }

  function bounds(name: string, old: Json, now: Json, at: string, sign: number): void {
    const text = `${name} ${wordOf(old)} → ${wordOf(now)}`
    const isTighter = old === undefined || (now !== undefined && (Number(now) - Number(old)) * sign > 0)
    if (isTighter) tighter(at, text)
    else looser(at, text)
  }

  function additional(old: Json, now: Json, at: string, depth: number): void {
    if (isMap(old) && isMap(now)) compare(old, now, `${at}/*`, depth + 1)
    else if (now === false) tighter(at, 'additional members no longer allowed')
    else if (old === false) add('compatible', at, 'additional members now allowed')
    else add('compatible', at, 'additionalProperties changed')
  }

  compare(before, after, '', 0)
  return changes
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
