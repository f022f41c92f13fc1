import { decodeString } from './json-strings.js'
import { seekInside, type Found, type Sought } from './json-seek.js'
import { elementsOf, kindAt, memberOf, type JsonKind, type Member } from './json-text.js'
import { jsonObjectIn } from './json-values.js'

const nothing: Sought = new Map<string, null>()

/**
 * Typed access to one JSON object inside a checked text, without parsing its values. A member of another kind than
 * requested counts as absent. The last of repeated members counts.
 */
export class JsonObject {
  readonly #text: string
  readonly #members: readonly Found[]

  /**
   * @param start index of the object's `{` in `text`, which `findJsonValue` has accepted
   * @param inside members to find in nested objects in the same pass
   */
  constructor(text: string, start: number, inside = nothing) {
    this.#text = text
    this.#members = seekInside(text, start, inside)
  }

  /** Undefined for a text that is not a JSON object. */
  static in(text: string): JsonObject | undefined {
    const found = jsonObjectIn(text)
    return found && new JsonObject(text, found.start)
  }

  has(name: string): boolean {
    return this.#last(name) !== undefined
  }

  /** Exact text of the value. */
  raw(name: string): string | undefined {
    const member = this.#last(name)
    return member && this.#text.slice(member.start, member.end)
  }

  /** The object's text, the index of the member's value, and the members found inside it. */
  at(
    name: string,
  ): { readonly text: string; readonly start: number; readonly members: Found['members'] } | undefined {
    const member = this.#last(name)
    return member && { text: this.#text, start: member.start, members: member.members }
  }

  string(name: string): string | undefined {
    const member = this.#find(name, 'string')
    return member && decodeString(this.#text, member.start, member.end)
  }

  number(name: string): number | undefined {
    const member = this.#find(name, 'number')
    return member && Number(this.#text.slice(member.start, member.end))
  }

  /** The strings of an array; other elements are left out. */
  strings(name: string): string[] {
    const text = this.#text
    return this.#elements(name).flatMap(({ start, end }) =>
      kindAt(text, start) === 'string' ? [decodeString(text, start, end)] : [],
    )
  }

  /** The number of elements of an array; undefined when there is no array. */
  elements(name: string): number | undefined {
    return this.#find(name, 'array') && this.#elements(name).length
  }

  object(name: string): JsonObject | undefined {
    const member = this.#find(name, 'object')
    return member && new JsonObject(this.#text, member.start)
  }

  /** The first `most` objects of an array, in order; undefined for an element of another kind. */
  objects(name: string, most = Infinity): (JsonObject | undefined)[] {
    const text = this.#text
    return this.#elements(name, most).map(({ start }) =>
      kindAt(text, start) === 'object' ? new JsonObject(text, start) : undefined,
    )
  }

  /** Name and exact text of every member that is not among `known`. */
  others(known: readonly string[] = []): (readonly [name: string, text: string])[] {
    const others: (readonly [string, string])[] = []
    for (const { name, start, end } of this.#members) {
      if (!known.includes(name)) others.push([name, this.#text.slice(start, end)])
    }
    return others
  }

  /** One loop without temporary objects: tapes have millions of lines. */
  #last(name: string): Found | undefined {
    return memberOf(this.#members, name)
  }

  #find(name: string, kind: JsonKind): Member | undefined {
    const member = this.#last(name)
    return member && kindAt(this.#text, member.start) === kind ? member : undefined
  }

  #elements(name: string, most = Infinity): readonly { start: number; end: number }[] {
    const member = this.#find(name, 'array')
    return member ? elementsOf(this.#text, member.start, most) : []
  }
}
