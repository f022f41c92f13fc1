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

/** All lists from a server. Repeated lists are stored once. */
export class Listings {
  readonly #pages = new Map<string, Page>()
  readonly #byFirst = new Map<number, Draft>()
  readonly #firstOf = new Map<number, number>()
  readonly #latest = new Map<OfferKind, Draft>()
  /** By conversation and kind: the list that a further page belongs to. */
  readonly #current = new Map<string, { readonly first: number | undefined; readonly draft: Draft }>()
  #listed = 0
  #pageCount = 0
  #isComplete = true
  #shownItems: { readonly key: string; readonly items: Items } | undefined

  /** @param result contains the list */
  take(list: OfferList, result: JsonObject, isFurther: boolean, at: ListingPlace | undefined): void {
    const { kind } = list
    const text = result.raw(list.member)
    // A response without a list contains no offers.
    if (text === undefined || kindAt(text, 0) !== 'array') return
    const page = this.#pageOf(text, pointersBelow(at?.redacted, `/result/${list.member}`))
    const goesOn = result.string('nextCursor') !== undefined
    const talk = `${kind} ${at?.conversation ?? ''}`
    const known =
      at?.first === undefined
        ? this.#current.get(talk)
        : { first: at.first, draft: this.#byFirst.get(at.first) }
    // The request for its first page failed.
    if (isFurther && at?.first !== undefined && !known?.draft) return
    if (isFurther && known?.draft) {
      known.draft.pages.push(page)
      if (known.first !== undefined && !this.#isKept(page)) this.#byFirst.delete(known.first)
      known.draft.goesOn = goesOn
      if (!goesOn) this.#current.delete(talk)
      this.#latest.set(kind, known.draft)
      if (at && known.first !== undefined) this.#firstOf.set(at.request, known.first)
      return
    }
    const draft: Draft = { list, pages: [page], goesOn }
    this.#latest.set(kind, draft)
    if (goesOn) this.#current.set(talk, { first: at?.request, draft })
    else this.#current.delete(talk)
    if (at && this.#isKept(page)) this.#byFirst.set(at.first ?? at.request, draft)
  }

  /** The most recent one. */
  last(kind: OfferKind): Listing | undefined {
    const draft = this.#latest.get(kind)
    return draft && this.#shown(draft)
  }

  /** By the request for its first page. */
  get(first: number): Listing | undefined {
    const draft = this.#byFirst.get(first)
    return draft && this.#shown(draft)
  }

  /** False if the storage limit was exceeded: of the rest, only the last list of each kind is known. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** The request for the first page of the list that this request's response belongs to. */
  firstOf(request: number): number | undefined {
    return this.#byFirst.has(request) ? request : this.#firstOf.get(request)
  }

  *all(): Iterable<readonly [first: number, listing: Listing]> {
    for (const [first, draft] of this.#byFirst) yield [first, this.#shown(draft)] as const
  }

  #pageOf(text: string, redacted: readonly string[]): Page {
    const key = keyOf({ text, redacted })
    const known = this.#pages.get(key)
    if (known) return known
    this.#pageCount += 1
    const page = { number: this.#pageCount, text, redacted }
    this.#isComplete &&= this.#listed + text.length <= mostListed
    if (this.#isComplete) {
      this.#listed += text.length
      this.#pages.set(key, page)
    }
    return page
  }

  #isKept(page: Page): boolean {
    return this.#pages.get(keyOf(page)) === page
  }

  #shown({ list: { kind, name }, pages: own, goesOn }: Draft): Listing {
    const key = own.map(({ number }) => number).join(',')
    const items = (): Items => {
      const cacheKey = `${kind} ${key}`
      if (this.#shownItems?.key !== cacheKey)
        this.#shownItems = {
          key: cacheKey,
          items: new Map(
            own.flatMap((page) => [...thingsOf(page, name)].map(([item, text]) => [item, text])),
          ),
        }
      return this.#shownItems.items
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
