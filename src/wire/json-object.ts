import { decodeString } from './json-strings.js'
import { elementsOf, kindAt, memberOf, membersOf, type JsonKind, type Member } from './json-text.js'

/**
 * Typed access to one JSON object inside a checked text, without parsing its values. A member of another
 * kind than asked for counts as absent; of a repeated member the last counts.
 */
export class JsonObject {
  readonly #text: string
  readonly #members: readonly Member[]

  /** @param start index of the object's `{` in `text`, which findJsonValue has accepted */
  constructor(text: string, start: number) {
    this.#text = text
    this.#members = membersOf(text, start)
  }

  has(name: string): boolean {
    return memberOf(this.#members, name) !== undefined
  }

  /** Exact text of the value. */
  raw(name: string): string | undefined {
    const member = memberOf(this.#members, name)
    return member && this.#text.slice(member.start, member.end)
  }

  string(name: string): string | undefined {
    const member = this.#find(name, 'string')
    return member && decodeString(this.#text, member.start, member.end)
  }

  number(name: string): number | undefined {
    const member = this.#find(name, 'number')
    return member && Number(this.#text.slice(member.start, member.end))
  }

  /** The strings of an array of strings; other elements are left out. */
  strings(name: string): string[] {
    const text = this.#text
    return this.#elements(name).flatMap(({ start, end }) =>
      kindAt(text, start) === 'string' ? [decodeString(text, start, end)] : [],
    )
  }

  object(name: string): JsonObject | undefined {
    const member = this.#find(name, 'object')
    return member && new JsonObject(this.#text, member.start)
  }

  /** The objects of an array, in its order; undefined stands for an element of another kind. */
  objects(name: string): (JsonObject | undefined)[] {
    const text = this.#text
    return this.#elements(name).map(({ start }) =>
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

  #find(name: string, kind: JsonKind): Member | undefined {
    const member = memberOf(this.#members, name)
    return member && kindAt(this.#text, member.start) === kind ? member : undefined
  }

  #elements(name: string): readonly { start: number; end: number }[] {
    const member = this.#find(name, 'array')
    return member ? elementsOf(this.#text, member.start) : []
  }
}
