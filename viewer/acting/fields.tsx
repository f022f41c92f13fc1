import { useListed } from './listed.js'
import { nameOf, Told, Unseen } from './told.js'
import { listIn, objectIn, textIn } from './values.js'

/** A property in the JSON Schema of an object. A server wrote it: its members may be anything. */
export type Property = Readonly<Record<string, unknown>>

/** JSON Schema of an object, with the members that a form uses. */
export interface ObjectSchema {
  readonly properties: readonly (readonly [name: string, property: Property])[]
  readonly required: ReadonlySet<string>
}

export function schemaIn(value: unknown): ObjectSchema {
  const { properties, required } = objectIn(value)
  return {
    properties: Object.entries(objectIn(properties)).map(([name, one]) => [name, objectIn(one)] as const),
    required: new Set(listIn(required).filter((one) => typeof one === 'string')),
  }
}

/** Drawn at once of what a schema may have any number of. */
const fieldsAtOnce = 100
const choicesAtOnce = 500

/** The fields of a form; values by property. */
export function Fields(props: {
  readonly schema: ObjectSchema
  readonly values: Readonly<Record<string, string>>
  readonly change: (values: Readonly<Record<string, string>>) => void
}) {
  const { schema, values, change } = props
  const { shown, more } = useListed(schema.properties, fieldsAtOnce, 'field')
  return (
    <>
      {shown.map(([key, property]) => (
        <Field
          key={key}
          name={key}
          property={property}
          required={schema.required.has(key)}
          value={values[key] ?? ''}
          change={(value) => change({ ...values, [key]: value })}
        />
      ))}
      {more}
    </>
  )
}

function Field(props: {
  readonly name: string
  readonly property: Property
  readonly required: boolean
  readonly value: string
  readonly change: (value: string) => void
}) {
  const { property, value, change } = props
  const type = typeOf(property)
  const choices = choicesOf(property)
  const { shown, more } = useListed(choices, choicesAtOnce, 'choice')
  const label = `${nameOf(props.name)}${props.required ? ' (required)' : ''}`
  return (
    <label class="act-field">
      {label}
      {choices.length > 0 ? (
        <select
          aria-label={label}
          value={value}
          onChange={({ currentTarget }) => change(currentTarget.value)}
        >
          <option value="">not sent</option>
          {shown.map((one) => (
            <option key={JSON.stringify(one.value)} value={JSON.stringify(one.value)}>
              {nameOf(one.title)}
            </option>
          ))}
        </select>
      ) : type === 'string' || type === 'number' || type === 'integer' ? (
        <input
          type="text"
          aria-label={label}
          inputMode={type === 'string' ? 'text' : 'decimal'}
          value={value}
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      ) : (
        <textarea
          class="act-text"
          rows={3}
          aria-label={label}
          placeholder="JSON"
          value={value}
          onInput={({ currentTarget }) => change(currentTarget.value)}
        />
      )}
      {more}
      {choices.length === 0 && <Unseen text={value} />}
      {textIn(property['description']) !== '' && (
        <small class="quiet">
          <Told text={textIn(property['description'])} />
        </small>
      )}
    </label>
  )
}

function typeOf({ type }: Property): string {
  if (typeof type === 'string') return type
  return textIn(listIn(type).find((one) => one !== 'null')) || 'any'
}

export function startOf(properties: readonly (readonly [string, Property])[]): Record<string, string> {
  return Object.fromEntries(
    properties.flatMap(([key, property]) => {
      if (property['default'] === undefined) return []
      const { default: value } = property
      const isPlain =
        typeof value === 'string' && typeOf(property) === 'string' && choicesOf(property).length === 0
      return [[key, isPlain ? value : JSON.stringify(value)]]
    }),
  )
}

/** Returns exact JSON text of an object. Optional fields left empty are omitted. */
export function argumentsOf(
  properties: readonly (readonly [string, Property])[],
  required: ReadonlySet<string>,
  values: Readonly<Record<string, string>>,
): { readonly text: string } | { readonly fault: string } {
  const members: string[] = []
  for (const [key, property] of properties) {
    const text = values[key] ?? ''
    const type = typeOf(property)
    const isText = type === 'string' && choicesOf(property).length === 0
    if (text.trim() === '' && !(isText && required.has(key))) {
      if (required.has(key)) return { fault: `${key} is required` }
      continue
    }
    if (!isText && parsed(text) === undefined) return { fault: `${key} is not valid JSON` }
    if ((type === 'number' || type === 'integer') && typeof parsed(text) !== 'number')
      return { fault: `${key} is not a number` }
    members.push(`${JSON.stringify(key)}:${isText ? JSON.stringify(text) : text.trim()}`)
  }
  return { text: `{${members.join(',')}}` }
}

/** Values of a choice and their labels. */
function choicesOf({ enum: values, oneOf, type }: Property): readonly { value: unknown; title: string }[] {
  const named = listIn(oneOf)
    .map(objectIn)
    .filter((one) => one['const'] !== undefined)
  if (named.length > 0)
    return named.map(({ const: value, title }) => ({ value, title: textIn(title) || wordOf(value) }))
  const all = Array.isArray(values) ? (values as unknown[]) : type === 'boolean' ? [true, false] : []
  return all.map((value) => ({ value, title: wordOf(value) }))
}

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
