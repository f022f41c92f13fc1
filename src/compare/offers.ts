import { elementsOf, findJsonValue, isFault, JsonObject, kindAt } from '../wire/index.js'
import { canonicalJson, isTooDeep } from './canonical-json.js'
import { offerLists, openingMembers, type OfferKind } from './offered-places.js'
import { compareSchemas, type Impact, type SchemaChange } from './schema-change.js'

/** Something that a server offers otherwise than before. */
export interface OfferChange {
  /** `server` is what it says about itself when a conversation opens. */
  readonly kind: OfferKind | 'server'
  /** Name of the tool or prompt, URI of the resource, member of the opening. */
  readonly name: string
  readonly change: 'added' | 'removed' | 'changed'
  /** That of the worst detail. */
  readonly impact: Impact
  /** What changed in it: `description changed`, `inputSchema: "city" required now`. */
  readonly details: readonly string[]
}

/** Gathers what a server offers from the answers in a recording. */
export interface Offers {
  /**
   * Takes an answer to a request that lists, or that opens the conversation; others are passed over.
   *
   * @param goesOn the request had a cursor, so that the answer adds to the list
   */
  take(method: string, answer: string, goesOn: boolean): void
  /** Exact text of each thing of a kind by its name; undefined when it was never listed. */
  list(kind: OfferKind): ReadonlyMap<string, string> | undefined
  /** Exact text of a member of the opening answer. */
  opening(): ReadonlyMap<string, string> | undefined
}

export function createOffers(): Offers {
  const lists = new Map<OfferKind, Map<string, string>>()
  let opening: Map<string, string> | undefined
  return {
    take(method, answer, goesOn) {
      const result = resultOf(answer)
      if (!result) return
      const list = offerLists.get(method)
      if (list) {
        // An answer that is no list tells nothing about what is offered.
        const at = result.at(list.member)
        if (!at || kindAt(at.text, at.start) !== 'array') return
        const known = goesOn ? lists.get(list.kind) : undefined
        const items = known ?? new Map<string, string>()
        lists.set(list.kind, items)
        for (const [name, text] of namedItems(result, list.member, list.name)) items.set(name, text)
      } else if (method === 'initialize' || method === 'server/discover') {
        opening = new Map()
        for (const name of openingMembers) {
          const text = result.raw(name)
          if (text !== undefined) opening.set(name, text)
        }
      }
    },
    list: (kind) => lists.get(kind),
    opening: () => opening,
  }
}

/** The answers that tell what a server offers. */
export function tellsOffers(method: string): boolean {
  return offerLists.has(method) || method === 'initialize' || method === 'server/discover'
}

/** What the new side offers otherwise; what one of them never listed is not compared. */
export function compareOffers(before: Offers, after: Offers): OfferChange[] {
  const changes = compareOpenings(before.opening(), after.opening())
  for (const { kind } of offerLists.values()) {
    const [old, now] = [before.list(kind), after.list(kind)]
    if (!old || !now) continue
    for (const [name, text] of old) {
      const other = now.get(name)
      if (other === undefined)
        changes.push({ kind, name, change: 'removed', impact: 'breaking', details: [] })
      else if (canonicalJson(text, 0) !== canonicalJson(other, 0)) {
        const change = compareItems(kind, name, text, other)
        // The order of sets is no change.
        if (change.details.length > 0 || !differsInOrderOnly(text, other)) changes.push(change)
      }
    }
    for (const name of now.keys()) {
      if (!old.has(name)) changes.push({ kind, name, change: 'added', impact: 'compatible', details: [] })
    }
  }
  return changes
}

function compareItems(kind: OfferKind, name: string, before: string, after: string): OfferChange {
  if (isTooDeep(before) || isTooDeep(after))
    return { kind, name, change: 'changed', impact: 'breaking', details: ['nested too deep to compare'] }
  const details = membersThatDiffer(before, after).flatMap((member): SchemaChange[] => {
    const [old, now] = [before, after].map((text) => valueOf(text, member))
    if (member === 'inputSchema' || member === 'outputSchema') {
      if (old === undefined)
        return [{ impact: member === 'inputSchema' ? 'breaking' : 'compatible', text: `${member} added` }]
      if (now === undefined) return [{ impact: 'breaking', text: `${member} removed` }]
      const changes = compareSchemas(old, now, member === 'inputSchema' ? 'input' : 'output')
      return changes.map(({ impact, text }) => ({
        impact,
        text: `${member}${text.startsWith('/') ? '' : ': '}${text}`,
      }))
    }
    if (kind === 'prompt' && member === 'arguments') return compareArguments(old, now)
    const impact = member === 'mimeType' ? 'breaking' : 'compatible'
    return [
      {
        impact,
        text: `${member} ${old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'}`,
      },
    ]
  })
  return { kind, name, change: 'changed', impact: worst(details), details: details.map(({ text }) => text) }
}

/** Arguments of a prompt, as the schema that they would be. */
function compareArguments(before: unknown, after: unknown): SchemaChange[] {
  const schemaOf = (value: unknown): unknown => {
    const list = (Array.isArray(value) ? value : []) as {
      name?: unknown
      required?: unknown
      title?: unknown
      description?: unknown
    }[]
    const named = list.filter((argument) => typeof argument?.name === 'string')
    return {
      properties: Object.fromEntries(
        named.map(({ name, title, description }) => [name, { title, description }]),
      ),
      required: named.filter(({ required }) => required === true).map(({ name }) => name),
    }
  }
  return compareSchemas(schemaOf(before), schemaOf(after), 'input').map(({ impact, text }) => ({
    impact,
    text: `arguments${text.startsWith('/') ? '' : ': '}${text}`,
  }))
}

function compareOpenings(
  before: ReadonlyMap<string, string> | undefined,
  after: ReadonlyMap<string, string> | undefined,
): OfferChange[] {
  if (!before || !after) return []
  const changes: OfferChange[] = []
  for (const name of openingMembers) {
    const [old, now] = [before.get(name), after.get(name)]
    if (
      old === now ||
      (old !== undefined && now !== undefined && canonicalJson(old, 0) === canonicalJson(now, 0))
    )
      continue
    const change = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'
    const details = name === 'capabilities' ? capabilityChanges(old, now) : plainDetails(old, now)
    const plain: Impact =
      name === 'serverInfo' ? 'note' : name === 'protocolVersion' ? 'breaking' : 'compatible'
    const impact = name === 'capabilities' ? worst(details) : plain
    changes.push({ kind: 'server', name, change, impact, details: details.map(({ text }) => text) })
  }
  return changes
}

function capabilityChanges(before: string | undefined, after: string | undefined): SchemaChange[] {
  const paths = (text: string | undefined): Map<string, string> => {
    const found = new Map<string, string>()
    const visit = (value: unknown, at: string): void => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return
      for (const [name, inner] of Object.entries(value)) {
        const path = at === '' ? name : `${at}.${name}`
        found.set(path, typeof inner === 'object' ? '' : JSON.stringify(inner))
        visit(inner, path)
      }
    }
    if (text !== undefined && !isTooDeep(text)) visit(JSON.parse(text), '')
    return found
  }
  const [old, now] = [paths(before), paths(after)]
  const changes: SchemaChange[] = []
  for (const [path, value] of old) {
    const other = now.get(path)
    if (other === undefined) changes.push({ impact: 'breaking', text: `${path} removed` })
    else if (other !== value)
      changes.push({
        impact: other === 'true' ? 'compatible' : 'breaking',
        text: `${path} ${value} → ${other}`,
      })
  }
  for (const path of now.keys())
    if (!old.has(path)) changes.push({ impact: 'compatible', text: `${path} added` })
  return changes
}

const longestDetail = 120

function plainDetails(before: string | undefined, after: string | undefined): SchemaChange[] {
  const text = `${before ?? 'none'} → ${after ?? 'none'}`
  return text.length <= longestDetail ? [{ impact: 'compatible', text }] : []
}

function membersThatDiffer(before: string, after: string): string[] {
  const [a, b] = [new JsonObject(before, 0), new JsonObject(after, 0)]
  const names = new Set([...a.others(), ...b.others()].map(([name]) => name))
  return [...names].filter((name) => {
    const [old, now] = [a.raw(name), b.raw(name)]
    return old === undefined || now === undefined || canonicalJson(old, 0) !== canonicalJson(now, 0)
  })
}

/** Arrays that are sets: of names, of values that are allowed, of types; and what a prompt takes, which is named. */
const sets: ReadonlySet<string> = new Set(['required', 'enum', 'type', 'arguments'])

function differsInOrderOnly(before: string, after: string): boolean {
  const inOrder = (name: string, value: unknown): unknown => {
    if (!Array.isArray(value) || !sets.has(name)) return value
    return value.map((element) => JSON.stringify(element)).toSorted()
  }
  const [a, b] = [before, after].map((text) => canonicalJson(text, 0))
  return JSON.stringify(JSON.parse(a!, inOrder)) === JSON.stringify(JSON.parse(b!, inOrder))
}

function valueOf(text: string, member: string): unknown {
  const value = new JsonObject(text, 0).raw(member)
  return value === undefined ? undefined : JSON.parse(value)
}

function worst(details: readonly SchemaChange[]): Impact {
  return details.some(({ impact }) => impact === 'breaking') ? 'breaking' : 'compatible'
}

function* namedItems(result: JsonObject, member: string, nameMember: string): Generator<[string, string]> {
  const at = result.at(member)
  if (!at || kindAt(at.text, at.start) !== 'array') return
  for (const { start, end } of elementsOf(at.text, at.start)) {
    if (kindAt(at.text, start) !== 'object') continue
    const name = new JsonObject(at.text, start).string(nameMember)
    if (name !== undefined) yield [name, at.text.slice(start, end)]
  }
}

function resultOf(answer: string): JsonObject | undefined {
  const found = findJsonValue(answer)
  if (isFault(found) || kindAt(answer, found.start) !== 'object') return undefined
  return new JsonObject(answer, found.start).object('result')
}
