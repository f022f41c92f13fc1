import { pointerSteps } from '../../src/wire/index.js'
import { formatWords } from './form-format.js'
import { listIn, objectIn, textIn } from './values.js'

/** A JSON Schema. A server wrote it: its members may be anything. */
export type Schema = Readonly<Record<string, unknown>>

/** The control that a form draws for a value. */
export type Shape =
  | { readonly kind: 'choice'; readonly choices: readonly Choice[] }
  | { readonly kind: 'text'; readonly format: string; readonly isLong: boolean }
  | { readonly kind: 'number' }
  | { readonly kind: 'list'; readonly element: Field }
  | { readonly kind: 'group'; readonly fields: readonly Field[] }
  | { readonly kind: 'json' }

export interface Choice {
  /** Exact JSON text. */
  readonly json: string
  readonly title: string
}

/** A value in a form. Nested fields are made when they are read: a schema may refer to itself. */
export interface Field {
  /** Name of the property; '' for elements and the whole. */
  readonly name: string
  /** '' for none. */
  readonly title: string
  readonly about: string
  readonly required: boolean
  /** null is allowed beside other values. */
  readonly isNullable: boolean
  /** The schema's restrictions on valid values, in words. */
  readonly hints: string
  /** JSON text of the default. */
  readonly start: string | undefined
  readonly schema: Schema
  readonly depth: number
  readonly shape: Shape
}

/** Deeper values are written as JSON. */
const deepest = 4
const mostHops = 10

/** The form for a whole value. @param root may be anything */
export function formOf(root: unknown): Field {
  const schema = objectIn(root)
  // Arguments are an object, whatever the schema says.
  return fieldOf('', { ...schema, type: 'object' }, true, 0, schema)
}

function fieldOf(name: string, given: Schema, required: boolean, depth: number, root: Schema): Field {
  const { schema, isNullable } = resolved(given, root)
  let shape: Shape | undefined
  return {
    name,
    title: textIn(schema['title']),
    about: textIn(schema['description']),
    required,
    isNullable,
    hints: hintsOf(schema),
    start: schema['default'] === undefined ? undefined : JSON.stringify(schema['default']),
    schema,
    depth,
    get shape() {
      return (shape ??= shapeOf(name, schema, depth, root))
    },
  }
}

function shapeOf(name: string, schema: Schema, depth: number, root: Schema): Shape {
  const choices = choicesOf(schema)
  if (choices.length > 0) return { kind: 'choice', choices }
  switch (typeOf(schema)) {
    case 'string':
      return { kind: 'text', format: textIn(schema['format']), isLong: isLong(name, schema) }
    case 'number':
    case 'integer':
      return { kind: 'number' }
    case 'array': {
      const { items } = schema
      if (depth >= deepest || typeof items !== 'object' || items === null || Array.isArray(items)) break
      return { kind: 'list', element: fieldOf('', objectIn(items), true, depth + 1, root) }
    }
    case 'object': {
      const properties = Object.entries(objectIn(schema['properties']))
      if (depth >= deepest || (depth > 0 && properties.length === 0)) break
      const required = new Set(listIn(schema['required']))
      const fields = properties.map(([key, one]) =>
        fieldOf(key, objectIn(one), required.has(key), depth + 1, root),
      )
      return { kind: 'group', fields }
    }
  }
  return { kind: 'json' }
}

/** Follows references within the schema, and takes null out of alternatives. */
function resolved(given: Schema, root: Schema): { readonly schema: Schema; readonly isNullable: boolean } {
  let schema = given
  let isNullable = false
  for (let hop = 0; hop < mostHops; hop += 1) {
    const { $ref, anyOf, oneOf, allOf, ...others } = schema
    const alternatives = listIn(anyOf ?? oneOf).map(objectIn)
    const left = alternatives.filter(({ type }) => type !== 'null')
    const [only] = left
    const [all] = listIn(allOf)
    if (typeof $ref === 'string') schema = { ...referred($ref, root), ...others }
    else if (only && left.length === 1 && !('const' in only)) {
      isNullable ||= alternatives.length > 1
      schema = { ...only, ...others }
    } else if (listIn(allOf).length === 1 && alternatives.length === 0)
      schema = { ...objectIn(all), ...others }
    else break
  }
  const types = listIn(schema['type'])
  return { schema, isNullable: isNullable || (types.length > 1 && types.includes('null')) }
}

function referred(reference: string, root: Schema): Schema {
  if (reference !== '#' && !reference.startsWith('#/')) return {}
  let found: unknown = root
  for (const step of pointerSteps(safelyDecoded(reference.slice(1))).slice(0, 20)) {
    const at = objectIn(found)
    found = Object.hasOwn(at, step) ? at[step] : undefined
  }
  return objectIn(found)
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function typeOf({ type, properties }: Schema): string {
  if (typeof type === 'string') return type
  const types = listIn(type).filter((one) => one !== 'null')
  if (types.length === 1) return textIn(types[0])
  return types.length === 0 && properties !== undefined ? 'object' : 'any'
}

/** Values of a choice and their labels. */
function choicesOf({ enum: values, enumNames, const: only, oneOf, anyOf, type }: Schema): readonly Choice[] {
  const alternatives = listIn(oneOf ?? anyOf).map(objectIn)
  if (alternatives.length > 0 && alternatives.every((one) => one['const'] !== undefined))
    return alternatives.map((one) => choiceOf(one['const'], textIn(one['title'])))
  if (only !== undefined) return [choiceOf(only, '')]
  if (Array.isArray(values)) return values.map((one, i) => choiceOf(one, textIn(listIn(enumNames)[i])))
  const isBoolean =
    type === 'boolean' || (Array.isArray(type) && type.includes('boolean') && type.length === 2)
  if (!isBoolean) return []
  return [true, false, ...(Array.isArray(type) && type.includes('null') ? [null] : [])].map((one) =>
    choiceOf(one, ''),
  )
}

function choiceOf(value: unknown, title: string): Choice {
  const json = JSON.stringify(value)
  return { json, title: title || (typeof value === 'string' ? value : json) }
}

const longNames = /^(?:contents?|body|code|script|sql|markdown|\w{1,40}Text)$/
const longFormats: ReadonlySet<unknown> = new Set(['textarea', 'multiline', 'markdown', 'text'])
const shortestLong = 500

/** Whether a text probably has several lines. */
function isLong(name: string, { format, maxLength, contentMediaType }: Schema): boolean {
  if (typeof contentMediaType === 'string' || longFormats.has(format)) return true
  return longNames.test(name) || (typeof maxLength === 'number' && maxLength >= shortestLong)
}

function hintsOf(schema: Schema): string {
  const { format, pattern, multipleOf, default: start, uniqueItems } = schema
  const isLower = schema['exclusiveMinimum'] !== undefined
  const isUpper = schema['exclusiveMaximum'] !== undefined
  const low = isLower ? schema['exclusiveMinimum'] : schema['minimum']
  const high = isUpper ? schema['exclusiveMaximum'] : schema['maximum']
  const words = [
    spanOf(low, high, isLower ? 'more than' : 'at least', isUpper ? 'less than' : 'at most', ''),
    spanOf(schema['minLength'], schema['maxLength'], 'at least', 'at most', ' characters'),
    spanOf(schema['minItems'], schema['maxItems'], 'at least', 'at most', ' elements'),
    typeof multipleOf === 'number' ? `multiple of ${multipleOf}` : '',
    uniqueItems === true ? 'unique elements' : '',
    typeof format === 'string' && !longFormats.has(format) ? formatWords(format) : '',
    typeof pattern === 'string' ? `matches ${pattern}` : '',
    start !== undefined && (typeof start !== 'object' || start === null)
      ? `default ${JSON.stringify(start)}`
      : '',
  ]
  return words.filter((one) => one !== '').join(' · ')
}

function spanOf(low: unknown, high: unknown, atLeast: string, atMost: string, unit: string): string {
  const parts = [
    ...(typeof low === 'number' ? [`${atLeast} ${low}`] : []),
    // JavaScript's safe integers are the limits that schema libraries write for every integer.
    ...(typeof high === 'number' && high < Number.MAX_SAFE_INTEGER ? [`${atMost} ${high}`] : []),
  ].filter((one) => !one.endsWith(String(Number.MIN_SAFE_INTEGER)))
  return parts.length === 0 ? '' : `${parts.join(', ')}${unit}`
}
