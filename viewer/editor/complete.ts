import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { syntaxTree } from '@codemirror/language'
import type { EditorView } from '@codemirror/view'
import { escapeLines, escapeText } from '../../src/render/index.js'
import { pointerSteps } from '../../src/wire/index.js'
import { unquoted } from './string-at.js'

type Schema = Readonly<Record<string, unknown>>
type Node = ReturnType<ReturnType<typeof syntaxTree>['resolveInner']>

const deepest = 64
/** Limits for one place: schemas come from a server and may have many references and alternatives. */
const mostSchemas = 200
const mostChoices = 200

/** Completes names and values from the schema at the cursor. */
export function completeFrom(schema: unknown, schemaAt: string) {
  return (context: CompletionContext): CompletionResult | null => {
    if (!isSchema(schema)) return null
    const { state, pos, explicit } = context
    const text = (node: Node): string => state.doc.sliceString(node.from, node.to)
    let node: Node = syntaxTree(state).resolveInner(pos, -1)
    const word = context.matchBefore(/"[^"\n]*|[\w.+-]*/)
    if (/^[⚠{,]$/.test(node.name) && node.parent) node = node.parent
    const isName = node.name === 'PropertyName' || node.name === 'Object'
    const place = isName ? pathTo(ownerOf(node), text) : pathTo(node, text)
    const inside = below(place, pointerSteps(schemaAt))
    if (!inside) return null
    if (!explicit && (!word || (word.from === word.to && !isName))) return null
    const schemas = schemasAt(schema, inside)
    const from = node.name === 'PropertyName' || isValue(node) ? node.from : (word?.from ?? pos)
    const options = isName ? namesIn(schemas, namesOf(ownerOf(node), text, node)) : valuesIn(schemas)
    return options.length === 0 ? null : { from, options }
  }
}

/** Replaces the text up to the cursor, and the quote that the editor added behind it. */
function putting(text: string, more: string) {
  return (view: EditorView, _: Completion, from: number, to: number): void => {
    const behind = view.state.doc.sliceString(to, to + 100)
    const isQuoted = behind.startsWith('"')
    const isFollowed = /^"?\s*:/.test(behind)
    const insert = isFollowed ? text : text + more
    const end = isQuoted ? to + 1 : to
    view.dispatch({
      changes: { from, to: end, insert },
      selection: { anchor: from + insert.length },
      userEvent: 'input.complete',
    })
  }
}

function isValue({ name }: Node): boolean {
  return ['String', 'Number', 'True', 'False', 'Null'].includes(name)
}

/** The object that a member name belongs to. */
function ownerOf(node: Node): Node {
  let at: Node | null = node
  while (at && at.name !== 'Object') at = at.parent
  return at ?? node
}

function namesOf(object: Node, text: (node: Node) => string, but: Node): Set<string> {
  const names = object
    .getChildren('Property')
    .flatMap((property) => property.getChildren('PropertyName'))
    .filter(({ from }) => from !== but.from)
  return new Set(names.map((name) => unquoted(text(name))))
}

/** Names and indexes from the root of the text to a value. */
function pathTo(node: Node, text: (node: Node) => string): string[] {
  const steps: string[] = []
  let child = node
  for (let parent = node.parent; parent; parent = parent.parent) {
    if (child.name === 'Property') {
      const name = child.getChild('PropertyName')
      if (name) steps.unshift(unquoted(text(name)))
    } else if (parent.name === 'Array') {
      let place = 0
      for (let before = child.prevSibling; before; before = before.prevSibling)
        if (!/^[[\],⚠]$/.test(before.name)) place += 1
      steps.unshift(String(place))
    }
    child = parent
  }
  if (node.name === 'Property' && steps.length === 0) {
    const name = node.getChild('PropertyName')
    if (name) steps.push(unquoted(text(name)))
  }
  return steps
}

/** The rest of a path below a place; undefined if the path lies elsewhere. */
function below(path: readonly string[], place: readonly string[]): readonly string[] | undefined {
  return place.every((step, i) => path[i] === step) ? path.slice(place.length) : undefined
}

/** The schemas that apply to the value at a path. */
function schemasAt(root: Schema, path: readonly string[]): Schema[] {
  let schemas = widened(root, [root])
  for (const step of path.slice(0, deepest)) {
    const next = schemas.flatMap((schema) => {
      const { properties, items, prefixItems, additionalProperties } = schema
      if (isSchema(properties) && isSchema(properties[step])) return [properties[step]]
      if (/^\d+$/.test(step)) {
        const own = Array.isArray(prefixItems) ? (prefixItems as unknown[])[Number(step)] : undefined
        return [own ?? items].filter(isSchema)
      }
      return [additionalProperties].filter(isSchema)
    })
    schemas = widened(root, next)
  }
  return schemas
}

/** The schemas with their references and alternatives. */
function widened(root: Schema, schemas: readonly Schema[]): Schema[] {
  const all = new Set(schemas)
  for (const schema of all) {
    if (all.size > mostSchemas) break
    const { $ref: reference, allOf, anyOf, oneOf } = schema
    const parts = [allOf, anyOf, oneOf].flatMap((one) => (Array.isArray(one) ? (one as unknown[]) : []))
    if (typeof reference === 'string' && reference.startsWith('#')) parts.push(referred(root, reference))
    for (const part of parts) if (isSchema(part)) all.add(part)
  }
  return [...all]
}

function referred(root: Schema, reference: string): unknown {
  let at: unknown = root
  for (const step of pointerSteps(reference.slice(1)))
    at = isSchema(at) && Object.hasOwn(at, step) ? at[step] : undefined
  return at
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function namesIn(schemas: readonly Schema[], taken: ReadonlySet<string>): Completion[] {
  const options: Completion[] = []
  for (const { properties, required } of schemas) {
    if (!isSchema(properties)) continue
    const needed = Array.isArray(required) ? (required as unknown[]) : []
    for (const [name, about] of Object.entries(properties)) {
      if (taken.has(name) || options.length >= mostChoices) continue
      const { type, description } = isSchema(about) ? about : {}
      const isNeeded = needed.includes(name)
      options.push({
        ...labelled(JSON.stringify(name)),
        apply: putting(JSON.stringify(name), ': '),
        type: 'property',
        detail:
          `${typeof type === 'string' ? escapeText(type.slice(0, 50)) : ''}${isNeeded ? ' required' : ''}`.trim(),
        boost: isNeeded ? 1 : 0,
        ...(typeof description === 'string' && { info: escapeLines(description.slice(0, 500)) }),
      })
    }
  }
  return options
}

function valuesIn(schemas: readonly Schema[]): Completion[] {
  const values = new Set<string>()
  for (const schema of schemas) {
    const { enum: choices, type } = schema
    for (const value of Array.isArray(choices) ? (choices as unknown[]) : [])
      values.add(JSON.stringify(value))
    for (const member of ['const', 'default'])
      if (Object.hasOwn(schema, member)) values.add(JSON.stringify(schema[member]))
    if (type === 'boolean') for (const value of ['true', 'false']) values.add(value)
    if (type === 'null') values.add('null')
  }
  return [...values]
    .slice(0, mostChoices)
    .map((text) => ({ ...labelled(text), apply: putting(text, ''), type: 'constant' }))
}

/** Matched by its text, and shown with its invisible characters. */
function labelled(label: string): Pick<Completion, 'label' | 'displayLabel'> {
  const displayLabel = escapeText(label)
  return displayLabel === label ? { label } : { label, displayLabel }
}
