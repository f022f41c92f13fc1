import { findJsonValue, isFault, JsonObject, kindAt } from '../wire/index.js'
import { canonicalJson, isTooDeep } from './canonical-json.js'
import { createListings, type Listing, type ListingPlace, type Listings } from './listings.js'
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
   * @param at whose list it is; lists without that are compared as the last ones only
   */
  take(method: string, answer: string, goesOn: boolean, at?: ListingPlace): void
  /** Exact text of each thing of a kind by its name, as listed last; undefined when it was never listed. */
  list(kind: OfferKind): ReadonlyMap<string, string> | undefined
  readonly listings: Pick<Listings, 'get' | 'firstOf' | 'all' | 'last' | 'isComplete'>
  /** Exact text of a member of the opening answer. */
  opening(): ReadonlyMap<string, string> | undefined
}

export function createOffers(): Offers {
  const listings = createListings()
  let opening: Map<string, string> | undefined
  return {
    take(method, answer, goesOn, at) {
      const result = resultOf(answer)
      if (!result) return
      const list = offerLists.get(method)
      if (list) listings.take(list, result, goesOn, at)
      else if (method === 'initialize' || method === 'server/discover') {
        opening = new Map()
        for (const name of openingMembers) {
          const text = result.raw(name)
          if (text !== undefined) opening.set(name, text)
        }
      }
    },
    list: (kind) => listings.last(kind)?.items(),
    listings,
    opening: () => opening,
  }
}

/** The answers that tell what a server offers. */
export function tellsOffers(method: string): boolean {
  return offerLists.has(method) || method === 'initialize' || method === 'server/discover'
}

/** Which lists are compared. */
export interface ComparedLists {
  /** The request of the new side that is the same as this one for a first page. */
  readonly partnerOf: (request: number) => number | undefined
  /** Those that came last too, where some have no partner. @default where none has one */
  readonly last?: boolean
}

/**
 * What the new side offers otherwise; what one of them never listed is not compared.
 *
 * @default those that came last
 */
export function compareOffers(before: Offers, after: Offers, lists?: ComparedLists): OfferChange[] {
  const changes = compareOpenings(before.opening(), after.opening())
  const told = new Set<string>()
  for (const [old, now] of pairsOf(before, after, lists)) {
    for (const change of compareListings(old, now)) {
      const text = JSON.stringify(change)
      if (!told.has(text)) changes.push(change)
      told.add(text)
    }
  }
  return changes
}

/** A note, if lists were too many to be compared each with its own. */
export function offerNotes(...sides: readonly Offers[]): readonly string[] {
  if (sides.every(({ listings }) => listings.isComplete)) return []
  return [
    'more than 8 MB of lists of tools, prompts and resources that differ: of the rest only the last ones were compared',
  ]
}

function* pairsOf(
  before: Offers,
  after: Offers,
  lists: ComparedLists | undefined,
): Generator<[Listing, Listing], void, undefined> {
  const seen = new Set<string>()
  const isNew = (old: Listing, now: Listing): boolean => {
    const key = JSON.stringify([old.kind, old.key, old.goesOn, now.key, now.goesOn])
    return !seen.has(key) && seen.add(key) !== undefined
  }
  const paired = new Map<OfferKind, number>()
  if (lists) {
    for (const [first, old] of before.listings.all()) {
      const partner = lists.partnerOf(first)
      const now = partner === undefined ? undefined : after.listings.get(partner)
      if (!now || now.kind !== old.kind) continue
      paired.set(old.kind, (paired.get(old.kind) ?? 0) + 1)
      if (isNew(old, now)) yield [old, now]
    }
  }
  for (const { kind } of offerLists.values()) {
    const [old, now] = [before.listings.last(kind), after.listings.last(kind)]
    if (!old || !now) continue
    const count = paired.get(kind) ?? 0
    const allPaired = [before, after].every(({ listings }) => countOf(listings, kind) === count)
    if ((count === 0 || (lists?.last && !allPaired)) && isNew(old, now)) yield [old, now]
  }
}

function countOf(listings: Offers['listings'], kind: OfferKind): number {
  let count = 0
  for (const [, listing] of listings.all()) if (listing.kind === kind) count += 1
  return count
}

const listGoesOn = 'not in what was asked for of the list, which goes on'

function compareListings(before: Listing, after: Listing): OfferChange[] {
  const changes: OfferChange[] = []
  const { kind } = before
  const [old, now] = [before.items(), after.items()]
  // Nobody knows what stands on a page that was not asked for.
  const mayBeThere = after.goesOn && !before.goesOn
  for (const [name, text] of old) {
    const other = now.get(name)
    if (other === undefined) {
      const impact = mayBeThere ? 'compatible' : 'breaking'
      changes.push({ kind, name, change: 'removed', impact, details: mayBeThere ? [listGoesOn] : [] })
    } else if (canonicalJson(text, 0) !== canonicalJson(other, 0)) {
      const change = compareItems(kind, name, text, other)
      // The order of sets is no change.
      if (change.details.length > 0 || !differsInOrderOnly(text, other)) changes.push(change)
    }
  }
  for (const name of now.keys()) {
    if (!old.has(name)) changes.push({ kind, name, change: 'added', impact: 'compatible', details: [] })
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

function resultOf(answer: string): JsonObject | undefined {
  const found = findJsonValue(answer)
  if (isFault(found) || kindAt(answer, found.start) !== 'object') return undefined
  return new JsonObject(answer, found.start).object('result')
}
