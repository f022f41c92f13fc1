import { checkSchema, type SchemaFault } from '../../src/compare/index.js'
import {
  decodeString,
  elementsOf,
  findJsonValue,
  isFault,
  kindAt,
  membersOf,
  pointerSteps,
} from '../../src/wire/index.js'
import { formatFault } from './form-format.js'
import type { Field } from './form-shape.js'
import { objectIn } from './values.js'

/**
 * The content of a form's field: the typed text of a leaf (JSON text of a choice), a text written as JSON, or the parts
 * of a list or group. A missing part is not sent.
 */
export type Draft = string | JsonDraft | ListDraft | GroupDraft

export interface JsonDraft {
  readonly json: string
}

export interface ListDraft {
  readonly elements: readonly (Draft | undefined)[]
}

export interface GroupDraft {
  readonly members: ReadonlyMap<string, Draft>
  /** Exact JSON text of members that the schema does not have. */
  readonly others: readonly string[]
}

/** Problems by JSON Pointer of the value. */
export type Faults = Map<string, string>

const noMembers: GroupDraft = { members: new Map(), others: [] }
/** Longer lists are written as JSON. */
const mostElements = 200
/** Longer texts are not checked. */
const longestChecked = 2_000_000

export function isGroup(draft: Draft | undefined): draft is GroupDraft {
  return typeof draft === 'object' && 'members' in draft
}

export function isList(draft: Draft | undefined): draft is ListDraft {
  return typeof draft === 'object' && 'elements' in draft
}

export function isJson(draft: Draft | undefined): draft is JsonDraft {
  return typeof draft === 'object' && 'json' in draft
}

/** The initial content of a field: defaults of the schema, and required parts. */
export function startOf(field: Field): Draft | undefined {
  // Where null is the default, not sending the value means the same.
  if (field.start !== undefined && (field.start !== 'null' || field.required))
    return draftOf(field, field.start)
  return field.shape.kind === 'group' && field.required ? emptyGroup(field) : undefined
}

export function emptyGroup({ shape }: Field): GroupDraft {
  if (shape.kind !== 'group') return noMembers
  const members = shape.fields.flatMap((one) => {
    // Groups inside groups are made when they are opened: a schema may refer to itself.
    const isLater = one.start === undefined && one.depth > 1
    const start = isLater ? undefined : startOf(one)
    return start === undefined ? [] : [[one.name, start] as const]
  })
  return { members: new Map(members), others: [] }
}

/** The content of a field for a value. @param text exact JSON */
export function draftOf(field: Field, text: string): Draft {
  const { shape } = field
  const value = text.trim()
  const kind = kindAt(value, 0)
  const asJson = { json: value }
  if (kind === 'null' && field.isNullable && field.required) return ''
  switch (shape.kind) {
    case 'choice':
      return shape.choices.find(({ json }) => json === value || sameText(json, value))?.json ?? asJson
    case 'text':
      return kind === 'string' && (value !== '""' || field.required)
        ? decodeString(value, 0, value.length)
        : asJson
    case 'number':
      return kind === 'number' ? value : asJson
    case 'list': {
      if (kind !== 'array') return asJson
      const all = elementsOf(value, 0)
      if (all.length > mostElements) return asJson
      return { elements: all.map(({ start, end }) => draftOf(shape.element, value.slice(start, end))) }
    }
    case 'group': {
      if (kind !== 'object') return asJson
      const all = membersOf(value, 0)
      const known = new Map(shape.fields.map((one) => [one.name, one]))
      const members = new Map<string, Draft>()
      const others: string[] = []
      for (const { name, start, end } of all) {
        const own = known.get(name)
        const raw = value.slice(start, end)
        if (own) members.set(name, draftOf(own, raw))
        else others.push(`${JSON.stringify(name)}:${raw}`)
      }
      // Of a repeated member, a form could show only one.
      return members.size + others.length === all.length ? { members, others } : asJson
    }
    case 'json':
      return value
  }
}

function sameText(json: string, value: string): boolean {
  return (
    json.startsWith('"') &&
    value.startsWith('"') &&
    decodeString(json, 0, json.length) === decodeString(value, 0, value.length)
  )
}

/**
 * Exact JSON text of a field's value; undefined if it is not sent.
 *
 * @param at JSON Pointer of the field
 * @param faults gets parts that are missing, and texts that are not JSON
 */
export function jsonOf(
  field: Field,
  draft: Draft | undefined,
  at: string,
  faults: Faults,
): string | undefined {
  if (isJson(draft)) return checkedJson(draft.json, at, faults) ?? missing(field, at, faults)
  const { shape } = field
  if (shape.kind === 'group') {
    if (!isGroup(draft)) return field.required ? missing(field, at, faults) : undefined
    const members = shape.fields.flatMap((one) => {
      const text = jsonOf(one, draft.members.get(one.name), `${at}/${escaped(one.name)}`, faults)
      return text === undefined ? [] : [`${JSON.stringify(one.name)}:${text}`]
    })
    return `{${[...members, ...draft.others].join(',')}}`
  }
  if (shape.kind === 'list') {
    if (!isList(draft)) return field.required ? '[]' : undefined
    const texts = draft.elements.map((one, i) => jsonOf(shape.element, one, `${at}/${i}`, faults) ?? 'null')
    return `[${texts.join(',')}]`
  }
  const text = typeof draft === 'string' ? draft : ''
  if (shape.kind === 'text' && (text !== '' || isEmptyText(field, draft))) return JSON.stringify(text)
  if (text.trim() === '') return missing(field, at, faults)
  if (shape.kind !== 'number') return checkedJson(text, at, faults)
  const found = findJsonValue(text)
  if (!isFault(found) && kindAt(text, found.start) === 'number') return text.trim()
  faults.set(at, 'is not a number')
  return undefined
}

/** Whether an empty text is sent: the field is required, and the user has cleared it. */
export function isEmptyText({ shape, required, isNullable }: Field, draft: Draft | undefined): boolean {
  if (shape.kind !== 'text' || draft !== '' || !required || isNullable) return false
  return formatFault(shape.format, '') === undefined
}

function missing({ required, isNullable }: Field, at: string, faults: Faults): string | undefined {
  if (!required) return undefined
  if (isNullable) return 'null'
  if (!faults.has(at)) faults.set(at, 'is required')
  return undefined
}

function checkedJson(text: string, at: string, faults: Faults): string | undefined {
  if (text.trim() === '') return undefined
  const found = findJsonValue(text)
  if (!isFault(found)) return text.slice(found.start, found.end)
  faults.set(at, `is not valid JSON: ${found.reason}`)
  return undefined
}

export function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

type Json = Parameters<typeof checkSchema>[0]

/** Adds where a value violates its schema. @param text exact JSON */
export function checkValue(field: Field, schema: unknown, text: string, faults: Faults): void {
  if (text.length > longestChecked) return
  const value = JSON.parse(text) as Json
  for (const fault of checkSchema(schema as Json, value))
    for (const { at, problem } of closer(fault, field, schema, value)) {
      const lacked = /^has no (".*")$/s.exec(problem)?.[1]
      const place = lacked === undefined ? at : `${at}/${escaped(JSON.parse(lacked) as string)}`
      if (!faults.has(place)) faults.set(place, lacked === undefined ? problem : 'is required')
    }
}

/** Faults of a value that may also be null, which a schema expresses by alternatives. */
function closer(fault: SchemaFault, field: Field, schema: unknown, value: Json): readonly SchemaFault[] {
  const { at } = fault
  let [own, part]: [Field | undefined, unknown] = [field, value]
  for (const step of pointerSteps(at)) {
    part = typeof part === 'object' && part !== null ? (part as Record<string, unknown>)[step] : undefined
    own = own && fieldIn(own, step)
  }
  if (!own?.isNullable || part === null || part === undefined) return [fault]
  const { $defs, definitions } = objectIn(schema)
  const alone = {
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
    ...own.schema,
  }
  const found = checkSchema(alone as Json, part as Json)
  return found.length === 0 ? [fault] : found.map((one) => ({ ...one, at: at + one.at }))
}

function fieldIn({ shape }: Field, step: string): Field | undefined {
  if (shape.kind === 'list') return shape.element
  return shape.kind === 'group' ? shape.fields.find(({ name }) => name === step) : undefined
}

/** Adds texts that do not have the format of their schema, which JSON Schema itself does not require. */
export function checkFormats(field: Field, draft: Draft | undefined, at: string, faults: Faults): void {
  const { shape } = field
  if (shape.kind === 'group' && isGroup(draft))
    for (const one of shape.fields)
      checkFormats(one, draft.members.get(one.name), `${at}/${escaped(one.name)}`, faults)
  if (shape.kind === 'list' && isList(draft))
    for (const [i, one] of draft.elements.entries()) checkFormats(shape.element, one, `${at}/${i}`, faults)
  if (shape.kind !== 'text' || typeof draft !== 'string' || draft === '' || faults.has(at)) return
  const fault = formatFault(shape.format, draft)
  if (fault !== undefined) faults.set(at, fault)
}
