import { elementsOf, JsonObject, kindAt } from '../wire/index.js'
import type { OfferKind, OfferList } from './offered-places.js'

/** Exact text of each thing in a list by its name. */
export type Items = ReadonlyMap<string, string>

/** Whose list an answer is. */
export interface ListingPlace {
  /** Number of the request. */
  readonly request: number
  readonly conversation?: string | undefined
  /** Number of the request for the first page, where it is known that this is another one. */
  readonly first?: number | undefined
}

/** A list that a server gave, as far as it was asked for. */
export interface Listing {
  readonly kind: OfferKind
  /** Equal for lists with equal pages. */
  readonly key: string
  /** It goes on, and nobody asked for the rest. */
  readonly goesOn: boolean
  items(): Items
}

/** All lists that a server gave. What it says again is kept once. */
export interface Listings {
  /** @param result with a list of that sort in it */
  take(list: OfferList, result: JsonObject, isFurther: boolean, at: ListingPlace | undefined): void
  /** The one that came last. */
  last(kind: OfferKind): Listing | undefined
  /** By the request for its first page. */
  get(first: number): Listing | undefined
  /** The request for the first page of the list that the answer to this one is a page of. */
  firstOf(request: number): number | undefined
  all(): Iterable<readonly [first: number, listing: Listing]>
}

interface Draft {
  readonly kind: OfferKind
  pages: string
  goesOn: boolean
}

/** Characters of lists that differ. Of more, only the last list of each sort is known. */
const mostListed = 16 << 20

export function createListings(): Listings {
  const pageNumbers = new Map<string, number>()
  const pages: Items[] = []
  const whole = new Map<string, Items>()
  const byFirst = new Map<number, Draft>()
  const firstOf = new Map<number, number>()
  const latest = new Map<OfferKind, Draft>()
  /** By conversation and kind: what a further page belongs to. */
  const current = new Map<string, { readonly first: number | undefined; readonly draft: Draft }>()
  let listed = 0

  function pageOf(text: string, items: () => Items): number {
    const known = pageNumbers.get(text)
    if (known !== undefined) return known
    listed += text.length
    if (listed > mostListed) forgetAll(text.length)
    const number = pages.push(items()) - 1
    pageNumbers.set(text, number)
    return number
  }

  function forgetAll(size: number): void {
    const needed = new Set([...latest.values(), ...[...current.values()].map(({ draft }) => draft)])
    for (const { pages: key } of needed) itemsOf(key)
    pageNumbers.clear()
    byFirst.clear()
    listed = size
    const kept = new Set([...needed].flatMap(({ pages: key }) => key.split(',')))
    for (const number of pages.keys()) if (!kept.has(String(number))) pages[number] = new Map()
    for (const key of whole.keys()) if (![...needed].some((draft) => draft.pages === key)) whole.delete(key)
  }

  function itemsOf(key: string): Items {
    if (!key.includes(',')) return pages[Number(key)]!
    let items = whole.get(key)
    if (!items) {
      items = new Map(key.split(',').flatMap((number) => [...pages[Number(number)]!]))
      whole.set(key, items)
    }
    return items
  }

  const shown = ({ kind, pages: key, goesOn }: Draft): Listing => ({
    kind,
    key,
    goesOn,
    items: () => itemsOf(key),
  })

  return {
    take({ kind, member, name }, result, isFurther, at) {
      const list = result.at(member)
      // An answer that is no list tells nothing about what is offered.
      if (!list || kindAt(list.text, list.start) !== 'array') return
      const text = result.raw(member)!
      const page = pageOf(text, () => new Map(namedItems(list.text, list.start, name)))
      const goesOn = result.string('nextCursor') !== undefined
      const conversation = `${kind} ${at?.conversation ?? ''}`
      const known =
        at?.first === undefined
          ? current.get(conversation)
          : { first: at.first, draft: byFirst.get(at.first) }
      if (isFurther && known?.draft) {
        known.draft.pages += `,${page}`
        known.draft.goesOn = goesOn
        latest.set(kind, known.draft)
        if (at && known.first !== undefined) firstOf.set(at.request, known.first)
        return
      }
      const draft: Draft = { kind, pages: String(page), goesOn }
      latest.set(kind, draft)
      current.set(conversation, { first: at?.request, draft })
      if (at) byFirst.set(at.first ?? at.request, draft)
    },
    last(kind) {
      const draft = latest.get(kind)
      return draft && shown(draft)
    },
    get(first) {
      const draft = byFirst.get(first)
      return draft && shown(draft)
    },
    firstOf: (request) => (byFirst.has(request) ? request : firstOf.get(request)),
    *all() {
      for (const [first, draft] of byFirst) yield [first, shown(draft)] as const
    },
  }
}

function* namedItems(text: string, start: number, nameMember: string): Generator<[string, string]> {
  for (const element of elementsOf(text, start)) {
    if (kindAt(text, element.start) !== 'object') continue
    const name = new JsonObject(text, element.start).string(nameMember)
    if (name !== undefined) yield [name, text.slice(element.start, element.end)]
  }
}
