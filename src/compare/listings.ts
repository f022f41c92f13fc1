import { elementsOf, JsonObject, kindAt } from '../wire/index.js'
import { pointersBelow } from './hidden-values.js'
import type { OfferKind, OfferList } from './offered-places.js'
import type { ListingPlace } from './listing-place.js'

/** Exact text of each list item, by its name. */
export type Items = ReadonlyMap<string, string>

/** A list from a server, as far as it was requested. */
export interface Listing {
  readonly kind: OfferKind
  /** Equal for lists with equal pages. */
  readonly key: string
  /** Further pages exist, but were not requested. */
  readonly goesOn: boolean
  items(): Items
  /** JSON Pointers to redacted values within the items, by item name. */
  redacted(): ReadonlyMap<string, readonly string[]>
  /** Number of items with redacted names; `items` omits them. */
  nameless(): number
}

/** All lists from a server. Repeated lists are stored once. */
export interface Listings {
  /** @param result contains the list */
  take(list: OfferList, result: JsonObject, isFurther: boolean, at: ListingPlace | undefined): void
  /** The most recent one. */
  last(kind: OfferKind): Listing | undefined
  /** By the request for its first page. */
  get(first: number): Listing | undefined
  /** The request for the first page of the list that this request's response belongs to. */
  firstOf(request: number): number | undefined
  all(): Iterable<readonly [first: number, listing: Listing]>
  /** False if the storage limit was exceeded: of the rest, only the last list of each kind is known. */
  readonly isComplete: boolean
}

interface Page {
  readonly number: number
  /** Exact text of the list. */
  readonly text: string
  /** JSON Pointers to redacted values in it. */
  readonly redacted: readonly string[]
}

interface Draft {
  readonly list: OfferList
  readonly pages: Page[]
  goesOn: boolean
}

/** Storage limit, in characters of distinct pages. Beyond it, only the last list of each kind is known. */
const mostListed = 8 << 20

export function createListings(): Listings {
  const pages = new Map<string, Page>()
  const byFirst = new Map<number, Draft>()
  const firstOf = new Map<number, number>()
  const latest = new Map<OfferKind, Draft>()
  /** By conversation and kind: the list that a further page belongs to. */
  const current = new Map<string, { readonly first: number | undefined; readonly draft: Draft }>()
  let listed = 0
  let pageCount = 0
  let isComplete = true
  let shownItems: { readonly key: string; readonly items: Items } | undefined

  function pageOf(text: string, redacted: readonly string[]): Page {
    const key = keyOf({ text, redacted })
    const known = pages.get(key)
    if (known) return known
    pageCount += 1
    const page = { number: pageCount, text, redacted }
    isComplete &&= listed + text.length <= mostListed
    if (isComplete) {
      listed += text.length
      pages.set(key, page)
    }
    return page
  }

  const isKept = (page: Page): boolean => pages.get(keyOf(page)) === page

  function shown({ list: { kind, name }, pages: own, goesOn }: Draft): Listing {
    const key = own.map(({ number }) => number).join(',')
    const items = (): Items => {
      const cacheKey = `${kind} ${key}`
      if (shownItems?.key !== cacheKey)
        shownItems = {
          key: cacheKey,
          items: new Map(
            own.flatMap((page) => [...thingsOf(page, name)].map(([item, text]) => [item, text])),
          ),
        }
      return shownItems.items
    }
    const hidden = own.filter(({ redacted }) => redacted.length > 0)
    return {
      kind,
      key,
      goesOn,
      items,
      redacted: () =>
        new Map(
          hidden.flatMap((page) => [...thingsOf(page, name)].map(([item, , places]) => [item, places])),
        ),
      nameless: () =>
        hidden.flatMap(({ redacted }) => redacted).filter((at) => namePlace.exec(at)?.[1] === name).length,
    }
  }

  return {
    take(list, result, isFurther, at) {
      const { kind } = list
      const text = result.raw(list.member)
      // A response without a list contains no offers.
      if (text === undefined || kindAt(text, 0) !== 'array') return
      const page = pageOf(text, pointersBelow(at?.redacted, `/result/${list.member}`))
      const goesOn = result.string('nextCursor') !== undefined
      const talk = `${kind} ${at?.conversation ?? ''}`
      const known =
        at?.first === undefined ? current.get(talk) : { first: at.first, draft: byFirst.get(at.first) }
      // The request for its first page failed.
      if (isFurther && at?.first !== undefined && !known?.draft) return
      if (isFurther && known?.draft) {
        known.draft.pages.push(page)
        if (known.first !== undefined && !isKept(page)) byFirst.delete(known.first)
        known.draft.goesOn = goesOn
        if (!goesOn) current.delete(talk)
        latest.set(kind, known.draft)
        if (at && known.first !== undefined) firstOf.set(at.request, known.first)
        return
      }
      const draft: Draft = { list, pages: [page], goesOn }
      latest.set(kind, draft)
      if (goesOn) current.set(talk, { first: at?.request, draft })
      else current.delete(talk)
      if (at && isKept(page)) byFirst.set(at.first ?? at.request, draft)
    },
    last(kind) {
      const draft = latest.get(kind)
      return draft && shown(draft)
    },
    get(first) {
      const draft = byFirst.get(first)
      return draft && shown(draft)
    },
    get isComplete() {
      return isComplete
    },
    firstOf: (request) => (byFirst.has(request) ? request : firstOf.get(request)),
    *all() {
      for (const [first, draft] of byFirst) yield [first, shown(draft)] as const
    },
  }
}

/** Possible place of an item's name in a list. */
const namePlace = /^\/\d+\/([^/]+)$/

function keyOf({ text, redacted }: Pick<Page, 'text' | 'redacted'>): string {
  return redacted.length === 0 ? text : `${redacted.join('\n')}\n${text}`
}

/** The items of a page with known names: the name, its text, and JSON Pointers to redacted values in it. */
function* thingsOf(
  { text, redacted }: Page,
  nameMember: string,
): Generator<[name: string, text: string, redacted: readonly string[]]> {
  for (const [i, { start, end }] of elementsOf(text, 0).entries()) {
    if (kindAt(text, start) !== 'object') continue
    const name = new JsonObject(text, start).string(nameMember)
    const hidden = pointersBelow(redacted, `/${i}`)
    if (name !== undefined && !hidden.includes(`/${nameMember}`)) yield [name, text.slice(start, end), hidden]
  }
}
