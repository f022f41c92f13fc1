/** One property of a JSON Schema. */
export interface SchemaRow {
  /** Nesting depth. */
  readonly depth: number
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly description: string
  /** For example `one of "a", "b"` or `at least 1`. */
  readonly limits: readonly string[]
}

/** Limits, since schemas come from a peer. */
const deepest = 6
const mostRows = 200

type Schema = Readonly<Record<string, unknown>>

/** The properties of an object schema, each followed by its nested ones; `[]` for other schemas. */
export function schemaRows(schema: unknown): readonly SchemaRow[] {
  const rows: SchemaRow[] = []
  addProperties(schema, 0, rows)
  return rows
}

function addProperties(schema: unknown, depth: number, rows: SchemaRow[]): void {
  if (!isSchema(schema) || !isSchema(schema['properties']) || depth > deepest) return
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : [])
  for (const [name, property] of Object.entries(schema['properties'])) {
    if (rows.length >= mostRows) return
    const known = isSchema(property) ? property : {}
    const { description } = known
    rows.push({
      depth,
      name,
      type: typeOf(known),
      required: required.has(name),
      description: typeof description === 'string' ? description : '',
      limits: limitsOf(known),
    })
    addProperties(known, depth + 1, rows)
    addProperties(known['items'], depth + 1, rows)
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function typeOf(schema: Schema): string {
  const { type, items, enum: values, $ref: reference } = schema
  if (type === 'array') return isSchema(items) ? `${typeOf(items)}[]` : 'array'
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return type.filter((one) => typeof one === 'string').join(' | ')
  for (const word of ['anyOf', 'oneOf'] as const) {
    const choices = schema[word]
    if (Array.isArray(choices)) return [...new Set(choices.filter(isSchema).map(typeOf))].join(' | ')
  }
  if (Array.isArray(values)) return [...new Set(values.map((value) => typeof value))].join(' | ')
  return typeof reference === 'string' ? reference.replace(/^.*\//, '') : 'any'
}

const words: readonly (readonly [member: string, word: string])[] = [
  ['minimum', 'at least'],
  ['exclusiveMinimum', 'greater than'],
  ['maximum', 'at most'],
  ['exclusiveMaximum', 'less than'],
  ['minLength', 'characters: at least'],
  ['maxLength', 'characters: at most'],
  ['minItems', 'items: at least'],
  ['maxItems', 'items: at most'],
  ['multipleOf', 'a multiple of'],
  ['pattern', 'matches'],
  ['format', 'format'],
  ['const', 'always'],
  ['default', 'default'],
]

function limitsOf(schema: Schema): string[] {
  const { enum: values } = schema
  const limits = Array.isArray(values)
    ? [`one of ${values.map((value) => JSON.stringify(value)).join(', ')}`]
    : []
  for (const [member, word] of words)
    if (schema[member] !== undefined)
      limits.push(
        `${word} ${typeof schema[member] === 'string' && member !== 'default' && member !== 'const' ? schema[member] : JSON.stringify(schema[member])}`,
      )
  return limits
}
