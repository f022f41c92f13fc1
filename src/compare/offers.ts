import { JsonObject } from '../wire/index.js'
import { canonicalJson, isTooDeep } from './canonical-json.js'
import { Listings, type Listing } from './listings.js'
import type { ListingPlace } from './listing-place.js'
import { alikeWhereHidden, nothingHidden } from './hidden-values.js'
import { offerLists, type OfferKind } from './offered-places.js'
import { compareOpenings, createOpenings, inAnyOrder, type Opening, type Openings } from './openings.js'
import {
  compareSchemas,
  hasWords,
  impactOfWords,
  worstOf,
  type Impact,
  type SchemaChange,
} from './schema-change.js'
import type { OfferChange, OfferVersions } from './offer-change.js'

/** Collects a server's offers from the responses in a recording. */
export interface Offers {
  /**
   * Takes a response to a request that lists offers or opens the conversation; others are ignored.
   *
   * @param goesOn the request had a cursor, so the response continues the list
   * @param at request and conversation of the response; without it, only the last list is compared
   */
  take(method: string, answer: string, goesOn: boolean, at?: ListingPlace): void
  /** Exact text of each item of a kind by name, from the latest list; undefined if it was never listed. */
  list(kind: OfferKind): ReadonlyMap<string, string> | undefined
  readonly listings: Pick<Listings, 'get' | 'firstOf' | 'all' | 'last' | 'isComplete'>
  readonly openings: Pick<Openings, 'get' | 'all' | 'last'>
}

export function createOffers(): Offers {
  const listings = new Listings()
  const openings = createOpenings()
  return {
    take(method, answer, goesOn, at) {
      const result = resultOf(answer)
      if (!result) return
      const list = offerLists.get(method)
      if (list) listings.take(list, result, goesOn, at)
      else if (tellsOffers(method)) openings.take(result, at)
    },
    list: (kind) => listings.last(kind)?.items(),
    listings,
    openings,
  }
}

/** Whether responses to this method contain offers. */
export function tellsOffers(method: string): boolean {
  return offerLists.has(method) || method === 'initialize' || method === 'server/discover'
}

/** Which lists and openings are compared. */
export interface ComparedLists {
  /** The equivalent request of the new side, for a first page or an opening. */
  readonly partnerOf: (request: number) => number | undefined
  /** Also compares the latest ones if some have no partner. @default only if none has a partner */
  readonly last?: boolean
}

/**
 * Changes in what the server offers. A kind that one side never listed is not compared.
 *
 * @default the latest lists
 */
export function compareOffers(before: Offers, after: Offers, lists?: ComparedLists): OfferChange[] {
  return compareOfferVersions(before, after, lists).map(({ change }) => change)
}

/** The same changes, with the texts of both versions. */
export function compareOfferVersions(before: Offers, after: Offers, lists?: ComparedLists): OfferVersions[] {
  const changes = new Map<string, OfferVersions>()
  // A change common to several lists is reported once.
  const tell = (found: OfferVersions): void => void changes.set(JSON.stringify(found.change), found)
  for (const [old, now] of openingPairs(before, after, lists)) compareOpenings(old, now).forEach(tell)
  for (const [old, now] of pairsOf(before, after, lists)) compareListings(old, now).forEach(tell)
  return [...changes.values()]
}

/** A note, if there were too many lists to compare each with its counterpart. */
export function offerNotes(...sides: readonly Offers[]): readonly string[] {
  if (sides.every(({ listings }) => listings.isComplete)) return []
  return [
    'the differing lists of tools, prompts and resources exceed 8 MB: of the rest, only the last lists were compared',
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

function* openingPairs(
  { openings: before }: Offers,
  { openings: after }: Offers,
  lists: ComparedLists | undefined,
): Generator<[Opening, Opening], void, undefined> {
  const seen = new Set<string>()
  const isNew = (old: Opening, now: Opening): boolean => {
    const key = JSON.stringify([old.key, now.key])
    return !seen.has(key) && seen.add(key) !== undefined
  }
  const pairs: [Opening, Opening][] = []
  if (lists) {
    for (const [request, old] of before.all()) {
      const partner = lists.partnerOf(request)
      const now = partner === undefined ? undefined : after.get(partner)
      if (now) pairs.push([old, now])
    }
  }
  const paired = pairs.length
  for (const [old, now] of inAnyOrder(pairs)) if (isNew(old, now)) yield [old, now]
  const [old, now] = [before.last(), after.last()]
  if (!old || !now) return
  const allPaired = [before, after].every((side) => [...side.all()].length === paired)
  if ((paired === 0 || (lists?.last && !allPaired)) && isNew(old, now)) yield [old, now]
}

function countOf(listings: Offers['listings'], kind: OfferKind): number {
  let count = 0
  for (const [, listing] of listings.all()) if (listing.kind === kind) count += 1
  return count
}

const listGoesOn = 'not on the requested pages; the list has more pages'

function compareListings(before: Listing, after: Listing): OfferVersions[] {
  const found: OfferVersions[] = []
  const { kind } = before
  const [old, now] = [before.items(), after.items()]
  const [oldHidden, newHidden] = [before.redacted(), after.redacted()]
  // Any of these may be an item that the other side names.
  let [oldNameless, newNameless] = [before.nameless(), after.nameless()]
  // The content of a page that was not requested is unknown.
  const mayBeThere = after.goesOn && !before.goesOn
  for (const [name, text] of old) {
    const other = now.get(name)
    if (other === undefined) {
      newNameless -= 1
      if (newNameless >= 0) continue
      const impact = mayBeThere ? 'compatible' : 'breaking'
      const details = mayBeThere ? [listGoesOn] : []
      found.push({ change: { kind, name, change: 'removed', impact, details }, before: text })
      continue
    }
    const [a, b] = alikeWhereHidden(
      { text, redacted: oldHidden.get(name) ?? nothingHidden },
      { text: other, redacted: newHidden.get(name) ?? nothingHidden },
    )
    if (canonicalJson(a, 0) === canonicalJson(b, 0)) continue
    const change = compareItems(kind, name, a, b)
    // The order of sets is not a change.
    if (change.details.length > 0 || !differsInOrderOnly(a, b)) found.push({ change, before: a, after: b })
  }
  for (const [name, text] of now) {
    if (old.has(name)) continue
    oldNameless -= 1
    if (oldNameless >= 0) continue
    const impact = isTooDeep(text) || hasWords(JSON.parse(text)) ? 'review' : 'compatible'
    found.push({ change: { kind, name, change: 'added', impact, details: [] }, after: text })
  }
  return found
}

function compareItems(kind: OfferKind, name: string, before: string, after: string): OfferChange {
  if (isTooDeep(before) || isTooDeep(after))
    return { kind, name, change: 'changed', impact: 'breaking', details: ['nested too deeply to compare'] }
  const details = membersThatDiffer(before, after).flatMap((member): SchemaChange[] => {
    const [old, now] = [before, after].map((text) => valueOf(text, member))
    if (member === 'inputSchema' || member === 'outputSchema') {
      if (old === undefined) return [{ impact: impactOfSchema(member, now), text: `${member} added` }]
      if (now === undefined) return [{ impact: 'breaking', text: `${member} removed` }]
      const changes = compareSchemas(old, now, member === 'inputSchema' ? 'input' : 'output')
      return changes.map(({ impact, text }) => ({
        impact,
        text: `${member}${text.startsWith('/') ? '' : ': '}${text}`,
      }))
    }
    if (kind === 'prompt' && member === 'arguments') return compareArguments(old, now)
    const impact = member === 'mimeType' ? 'breaking' : impactOfWords(member)
    return [
      {
        impact,
        text: `${member} ${old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'}`,
      },
    ]
  })
  return { kind, name, change: 'changed', impact: worstOf(details), details: details.map(({ text }) => text) }
}

function impactOfSchema(member: 'inputSchema' | 'outputSchema', added: unknown): Impact {
  if (member === 'inputSchema') return 'breaking'
  return hasWords(added) ? 'review' : 'compatible'
}

/** Compares a prompt's arguments as an equivalent schema. */
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

function membersThatDiffer(before: string, after: string): string[] {
  const [a, b] = [new JsonObject(before, 0), new JsonObject(after, 0)]
  const names = new Set([...a.others(), ...b.others()].map(([name]) => name))
  return [...names].filter((name) => {
    const [old, now] = [a.raw(name), b.raw(name)]
    return old === undefined || now === undefined || canonicalJson(old, 0) !== canonicalJson(now, 0)
  })
}

/** Arrays treated as sets: names, allowed values, types, and a prompt's arguments, which have names. */
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

function resultOf(answer: string): JsonObject | undefined {
  return JsonObject.in(answer)?.object('result')
}
