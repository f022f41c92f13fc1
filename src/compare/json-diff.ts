import { canonicalNumber, decodeString, elementsOf, kindAt, skipValue, type Span } from '../wire/index.js'
import { canonicalJson, deepest, lastMembers } from './canonical-json.js'
import { pairElements } from './pair-elements.js'
import { spellingOf } from './spelling.js'
import { toPointer, type JsonPlace } from './json-place.js'
import { jsonInText, textMember } from './text-json.js'

/** One place where two JSON values differ. */
export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed'
  /** Place in the value that has it; for a change, in the new value. JSON inside a `text` counts as nested. */
  readonly place: JsonPlace
  /** For a change: place in the old value, if array elements moved. */
  readonly oldPlace?: JsonPlace
  /** Exact JSON text; absent for an addition. */
  readonly before?: string
  /** Exact JSON text; absent for a removal. */
  readonly after?: string
}

/** Differences of two values. */
export interface JsonDiff {
  readonly differences: readonly Difference[]
  /** Number of differences not listed. */
  readonly more: number
}

/** Differences allowed at a place, for both sides. */
export interface Tolerance {
  /** Whether neither value nor presence counts. */
  isIgnored(side: 'before' | 'after', pointer: string): boolean
  /** True if both values are allowed at this place; undefined if no rule applies. */
  accepts(beforePointer: string, before: string, afterPointer: string, after: string): boolean | undefined
  /** Replacement for a value when array elements are paired: `''` for an ignored one. */
  standIn(side: 'before' | 'after', pointer: string, text: string, start: number): string | undefined
}

export interface DiffOptions {
  /** Also compares spelling: number text, escapes, member order, repeated members, white space. @default false */
  readonly exact?: boolean
  readonly tolerance?: Tolerance | undefined
  /** Limit of listed differences. @default 100 */
  readonly most?: number
}

/** Array elements below this depth are paired by index: pairing reads all nested content at each level. */
const deepestPaired = 24

/** A value inside a checked text, and its place. */
interface Side {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly place: JsonPlace
}

/**
 * Structural difference of two JSON values. Numbers are compared exactly, at any size; member order does not
 * count; array elements are paired so that one insertion or removal is one difference.
 *
 * @param before accepted by `findJsonValue`; the value is at `beforeSpan`
 */
export function diffJson(
  before: string,
  beforeSpan: Span,
  after: string,
  afterSpan: Span,
  options: DiffOptions = {},
): JsonDiff {
  return new JsonComparison(options).run(
    { text: before, ...spanOf(beforeSpan), place: [] },
    { text: after, ...spanOf(afterSpan), place: [] },
  )
}

class JsonComparison {
  readonly #exact: boolean
  readonly #tolerance: Tolerance | undefined
  readonly #most: number
  readonly #differences: Difference[] = []
  /** Differences not listed. */
  #more = 0

  constructor({ exact = false, tolerance, most = 100 }: DiffOptions) {
    this.#exact = exact
    this.#tolerance = tolerance
    this.#most = most
  }

  run(before: Side, after: Side): JsonDiff {
    this.#compare(before, after, 0)
    return { differences: this.#differences, more: this.#more }
  }

  /** Differences found so far. */
  get #count(): number {
    return this.#differences.length + this.#more
  }

  #add(difference: Difference): void {
    if (this.#differences.length < this.#most) this.#differences.push(difference)
    else this.#more += 1
  }

  #changed(a: Side, b: Side): void {
    const moved = toPointer(a.place) !== toPointer(b.place)
    this.#add({
      kind: 'changed',
      place: b.place,
      ...(moved && { oldPlace: a.place }),
      before: a.text.slice(a.start, a.end),
      after: b.text.slice(b.start, b.end),
    })
  }

  #onlyIn(side: 'before' | 'after', { text, start, end, place }: Side): void {
    if (this.#tolerance?.isIgnored(side, toPointer(place))) return
    const value = text.slice(start, end)
    if (side === 'before') this.#add({ kind: 'removed', place, before: value })
    else this.#add({ kind: 'added', place, after: value })
  }

  #compare(a: Side, b: Side, depth: number): void {
    const aText = a.text.slice(a.start, a.end)
    const bText = b.text.slice(b.start, b.end)
    if (aText === bText) return
    const tolerance = this.#tolerance
    if (tolerance) {
      const aPointer = toPointer(a.place)
      const bPointer = toPointer(b.place)
      if (tolerance.isIgnored('before', aPointer) || tolerance.isIgnored('after', bPointer)) return
      const accepted = tolerance.accepts(aPointer, aText, bPointer, bText)
      if (accepted === true) return
      if (accepted === false) return this.#changed(a, b)
    }
    const kind = kindAt(a.text, a.start)
    if (kind !== kindAt(b.text, b.start) || depth === deepest) return this.#changed(a, b)
    if (kind === 'object') this.#objects(a, b, depth)
    else if (kind === 'array') this.#arrays(a, b, depth)
    else if (kind === 'string') this.#strings(a, b)
    else if (kind !== 'number' || this.#exact || canonicalNumber(aText) !== canonicalNumber(bText))
      this.#changed(a, b)
  }

  /** Reports spelling only if no other difference was found: names, lengths and values are reported themselves. */
  #spelling(a: Side, b: Side, count: number): void {
    if (this.#exact && this.#count === count && spellingOf(a.text, a) !== spellingOf(b.text, b))
      this.#changed(a, b)
  }

  #objects(a: Side, b: Side, depth: number): void {
    const count = this.#count
    const bMembers = new Map(lastMembers(b.text, b.start).map((member) => [member.name, member]))
    for (const member of lastMembers(a.text, a.start)) {
      const { name } = member
      const aSide = within(a, member, name)
      const other = bMembers.get(name)
      bMembers.delete(name)
      if (!other) this.#onlyIn('before', aSide)
      else if (name === textMember && !this.#exact) this.#texts(aSide, within(b, other, name), depth)
      else this.#compare(aSide, within(b, other, name), depth + 1)
    }
    for (const member of bMembers.values()) this.#onlyIn('after', within(b, member, member.name))
    this.#spelling(a, b, count)
  }

  /** Compares texts that may hold JSON by that JSON, not by its formatting. */
  #texts(a: Side, b: Side, depth: number): void {
    const inner = [a, b].map(innerJson)
    if (
      inner[0] &&
      inner[1] &&
      kindAt(inner[0].text, inner[0].start) === kindAt(inner[1].text, inner[1].start)
    ) {
      this.#compare(inner[0], inner[1], depth + 1)
    } else {
      this.#compare(a, b, depth + 1)
    }
  }

  #strings(a: Side, b: Side): void {
    if (this.#exact || decodeString(a.text, a.start, a.end) !== decodeString(b.text, b.start, b.end))
      this.#changed(a, b)
  }

  #arrays(a: Side, b: Side, depth: number): void {
    const count = this.#count
    const aElements = elementsOf(a.text, a.start)
    const bElements = elementsOf(b.text, b.start)
    const key =
      (side: 'before' | 'after', of: Side, elements: readonly Span[]) =>
      (i: number): string =>
        this.#keyOf(side, of, elements[i]!.start, i)
    const byPlace = depth >= deepestPaired || (aElements.length === 1 && bElements.length === 1)
    const pairs = pairElements(
      aElements.length,
      bElements.length,
      byPlace ? (i) => `${i} before` : key('before', a, aElements),
      byPlace ? (i) => `${i} after` : key('after', b, bElements),
    )
    for (const [i, j] of pairs) {
      if (j === undefined) this.#onlyIn('before', within(a, aElements[i!]!, i!))
      else if (i === undefined) this.#onlyIn('after', within(b, bElements[j]!, j))
      else this.#compare(within(a, aElements[i]!, i), within(b, bElements[j]!, j), depth + 1)
    }
    this.#spelling(a, b, count)
  }

  #keyOf(side: 'before' | 'after', of: Side, start: number, i: number): string {
    if (this.#exact) return of.text.slice(start, skipValue(of.text, start))
    const tolerance = this.#tolerance
    if (!tolerance) return canonicalJson(of.text, start)
    const at = toPointer([...of.place, i])
    return canonicalJson(
      of.text,
      start,
      (pointer, text, from) => tolerance.standIn(side, pointer, text, from),
      at,
    )
  }
}

function spanOf({ start, end }: Span): Span {
  return { start, end }
}

function within(side: Side, { start, end }: Span, step: string | number): Side {
  return { text: side.text, start, end, place: [...side.place, step] }
}

function innerJson(side: Side): Side | undefined {
  if (kindAt(side.text, side.start) !== 'string') return undefined
  const text = decodeString(side.text, side.start, side.end)
  const start = jsonInText(text)
  return start === undefined ? undefined : { text, start, end: skipValue(text, start), place: side.place }
}
