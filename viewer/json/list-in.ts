import { decodeString, elementsOf, jsonIn, JsonObject } from '../../src/wire/index.js'

/** A list of objects, with cells as texts. */
export interface JsonList {
  /** Name of the member with the list; '' if the whole value is the list. */
  readonly member: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Number of omitted rows. */
  readonly left: number
}

const longestText = 1_000_000
const mostRows = 500
const mostColumns = 16
const longestCell = 300

/**
 * The list in a JSON text: an array of at least two objects, or an object with one member that is such an
 * array. Numbers keep their digits. Undefined if there is none, or if it holds only nested objects.
 */
export function listIn(text: string): JsonList | undefined {
  if (text.length > longestText) return undefined
  const found = jsonIn(text)
  if (!found) return undefined
  if (text[found.start] === '[') return listAt(text, found.start, '')
  if (text[found.start] !== '{') return undefined
  const lists = new JsonObject(text, found.start)
    .others()
    .flatMap(([member, raw]) => (raw.startsWith('[') ? (listAt(raw, 0, member) ?? []) : []))
  return lists.length === 1 ? lists[0] : undefined
}

function listAt(text: string, start: number, member: string): JsonList | undefined {
  const elements = elementsOf(text, start)
  if (elements.length < 2 || elements.some((one) => text[one.start] !== '{')) return undefined
  const columns: string[] = []
  const objects = elements.slice(0, mostRows).map((one) => new Map(new JsonObject(text, one.start).others()))
  for (const object of objects)
    for (const name of object.keys()) {
      if (columns.includes(name)) continue
      if (columns.length >= mostColumns) return undefined
      columns.push(name)
    }
  if (columns.length === 0) return undefined
  const rows = objects.map((object) => columns.map((name) => cellOf(object.get(name) ?? '')))
  return { member, columns, rows, left: elements.length - rows.length }
}

/** A string without its quotes; other values unchanged. */
function cellOf(json: string): string {
  const text = json.startsWith('"') ? decodeString(json, 0, json.length) : json
  return text.length > longestCell ? `${text.slice(0, longestCell)}…` : text
}
